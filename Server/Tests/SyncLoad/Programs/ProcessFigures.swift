import Foundation

/// What the system tells of a process. Linux alone tells it in files.
enum ProcessFigures {
  /// A size in the file `status`; nil where there is none.
  ///
  /// - Parameters:
  ///   - field: its name, such as `VmRSS`.
  ///   - process: the number of the process, or `self`.
  static func bytes(_ field: String, of process: String) -> Int? {
    guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8) else {
      return nil
    }
    let line = status.split(separator: "\n").first { $0.hasPrefix(field + ":") }
    return line?.split(whereSeparator: \.isWhitespace).compactMap { Int($0) }.first.map { $0 << 10 }
  }

  /// Seconds that all threads of a process have used a processor for; nil where the system does not tell it.
  static func processorSeconds(of process: String) -> Double? {
    guard let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
      // The name of the program, which stands in brackets, may have anything in it.
      let end = stat.lastIndex(of: ")")
    else { return nil }
    let fields = stat[end...].split(separator: " ").dropFirst().map { Double($0) }
    // The 14th and the 15th of all fields, of which two stand up to the bracket.
    guard fields.count > 12, let own = fields[11], let system = fields[12] else { return nil }
    return (own + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }
}
