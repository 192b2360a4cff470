import Foundation

/// The figures that the system reports of a process. Only Linux reports them in files.
enum ProcessFigures {
  /// A size in the file `status`; nil if there is none.
  ///
  /// - Parameters:
  ///   - field: The name of the size, such as `VmRSS`.
  ///   - process: The number of the process, or `self`.
  static func bytes(_ field: String, of process: String) -> Int? {
    guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8) else {
      return nil
    }
    let line = status.split(separator: "\n").first { $0.hasPrefix(field + ":") }
    return line?.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }.first.map { $0 << 10 }
  }

  /// The seconds of processor time that all threads of a process have used; nil if the system does not report it.
  static func processorSeconds(of process: String) -> Double? {
    guard let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      // The name of the program is in brackets, and may contain any characters.
      let end = stat.lastIndex(of: ")")
    else { return nil }
    let fields = stat[end...].split(separator: " ").dropFirst().map { Double($0) }
    // These are the 14th and the 15th of all fields. Two fields are before the closing bracket.
    guard fields.count > 12, let own = fields[11], let system = fields[12] else { return nil }
    return (own + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }
}
