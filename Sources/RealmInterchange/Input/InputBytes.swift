import Foundation

/// Reads an input from its start, piece by piece.
package final class InputBytes {
  private static let step = 1 << 18
  private static let mark: [UInt8] = [0xef, 0xbb, 0xbf]
  /// The most bytes that a line or a record of an input may have.
  package static let longestRecord = 1 << 28

  private let handle: FileHandle
  private let isInterrupted: () -> Bool
  private var piece: [UInt8] = []
  private var position = 0
  private var isAtStart = true

  /// Opens an input.
  ///
  /// - Parameters:
  ///   - path: the path of a file, or `-` for standard input.
  ///   - isInterrupted: is called now and then. If it returns true, reading ends with an error.
  /// - Throws: `InterchangeError` if the file can't be read.
  package init(
    path: String, isInterrupted: @escaping () -> Bool = { false }
  ) throws(InterchangeError) {
    self.isInterrupted = isInterrupted
    if path == "-" {
      handle = .standardInput
      return
    }
    // FileHandle does not say why it can't open a file.
    guard access(path, R_OK) == 0, let handle = FileHandle(forReadingAtPath: path) else {
      throw InterchangeError("\(path) can't be read: \(String(cString: strerror(errno))).")
    }
    var isFolder: ObjCBool = false
    guard !FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) || !isFolder.boolValue else {
      throw InterchangeError("\(path) is a folder.")
    }
    self.handle = handle
  }

  /// The next byte; nil at the end of the input.
  ///
  /// - Throws: `InterchangeError` if reading fails or was interrupted.
  package func next() throws(InterchangeError) -> UInt8? {
    if position == piece.count { try refill() }
    guard position < piece.count else { return nil }
    position += 1
    return piece[position - 1]
  }

  /// The byte that `next` will return; nil at the end of the input.
  package func peek() throws(InterchangeError) -> UInt8? {
    if position == piece.count { try refill() }
    return position < piece.count ? piece[position] : nil
  }

  /// The bytes of the next line without its end; nil at the end of the input.
  ///
  /// - Throws: `InterchangeError` if reading fails or was interrupted, or the line is too long.
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

  /// Checks the number of bytes of a record.
  ///
  /// - Throws: `InterchangeError` if the record is too long.
  package func checkLength(_ count: Int) throws(InterchangeError) {
    guard count <= Self.longestRecord else {
      throw InterchangeError(
        "A record of the input has more than \(Self.longestRecord >> 20) MiB: is a line's end or a quotation mark missing?"
      )
    }
  }

  /// Checks whether the import was interrupted.
  ///
  /// - Throws: `InterchangeError` if it was.
  package func checkInterruption() throws(InterchangeError) {
    guard !isInterrupted() else {
      throw InterchangeError("The import was interrupted: nothing was imported.")
    }
  }

  private func refill() throws(InterchangeError) {
    position = 0
    piece = try read()
    guard isAtStart else { return }
    isAtStart = false
    // Some programs begin a text in UTF-8 with a byte order mark. A pipe may deliver the mark in pieces.
    while piece.count < Self.mark.count, Self.mark.starts(with: piece), !piece.isEmpty {
      let more = try read()
      if more.isEmpty { return }
      piece += more
    }
    if piece.starts(with: Self.mark) { position = Self.mark.count }
    if position == piece.count { piece = try read(); position = 0 }
  }

  private func read() throws(InterchangeError) -> [UInt8] {
    try checkInterruption()
    // A pipe may deliver nothing for a long time; a file is always ready. So the loop checks for interruptions while it
    // waits.
    var waiting = pollfd(fd: handle.fileDescriptor, events: Int16(POLLIN), revents: 0)
    while poll(&waiting, 1, 250) <= 0 { try checkInterruption() }
    while true {
      var bytes = [UInt8](repeating: 0, count: Self.step)
      // `FileHandle` would wait until it has as many bytes as were requested.
      let count = Foundation.read(handle.fileDescriptor, &bytes, bytes.count)
      if count >= 0 {
        bytes.removeLast(bytes.count - count)
        return bytes
      }
      guard errno == EINTR else {
        throw InterchangeError("The input can't be read: \(String(cString: strerror(errno))).")
      }
      try checkInterruption()
    }
  }
}
