import Foundation

/// Reads an input from its start, a piece at a time.
package final class InputBytes {
  private static let step = 1 << 18
  /// No line and no record of an input is longer, in bytes.
  package static let longestRecord = 1 << 28

  private let handle: FileHandle
  private var piece: [UInt8] = []
  private var position = 0

  /// - Parameter path: the path of a file, or `-` for standard input.
  /// - Throws: `InterchangeError` if the file can't be read.
  package init(path: String) throws(InterchangeError) {
    if path == "-" {
      handle = .standardInput
      return
    }
    guard let handle = FileHandle(forReadingAtPath: path) else {
      throw InterchangeError("\(path) can't be read: \(String(cString: strerror(errno))).")
    }
    self.handle = handle
  }

  /// The next byte; nil at the end.
  ///
  /// - Throws: `InterchangeError` if the input can't be read on.
  package func next() throws(InterchangeError) -> UInt8? {
    if position == piece.count { try refill() }
    guard position < piece.count else { return nil }
    position += 1
    return piece[position - 1]
  }

  /// The byte that `next` will answer; nil at the end.
  package func peek() throws(InterchangeError) -> UInt8? {
    if position == piece.count { try refill() }
    return position < piece.count ? piece[position] : nil
  }

  /// The bytes up to a line's end, which is not among them; nil at the end of the input.
  ///
  /// - Throws: `InterchangeError` if the input can't be read on, or the line is too long.
  package func line() throws(InterchangeError) -> [UInt8]? {
    guard try peek() != nil else { return nil }
    var line: [UInt8] = []
    while try peek() != nil {
      let rest = piece[position...]
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        line.append(contentsOf: rest[..<end])
        position = end + 1
        break
      }
      line.append(contentsOf: rest)
      position = piece.count
      try checkLength(line.count)
    }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    return line
  }

  /// - Throws: `InterchangeError` for a record that is too long.
  package func checkLength(_ count: Int) throws(InterchangeError) {
    guard count <= Self.longestRecord else {
      throw InterchangeError(
        "A record of the input has more than \(Self.longestRecord >> 20) MiB: is a line's end or a quotation mark missing?"
      )
    }
  }

  private func refill() throws(InterchangeError) {
    position = 0
    do {
      piece = [UInt8](try handle.read(upToCount: Self.step) ?? Data())
    } catch {
      throw InterchangeError("The input can't be read: \(error.localizedDescription)")
    }
  }
}
