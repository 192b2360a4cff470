import Foundation

/// Files on which bounds are measured. They are written in calls of 64 KiB, like the files of this project. Linux keeps
/// what one call writes in folios of that size, up to 2 MiB, and a later write of one page waits for all blocks of its
/// folio.
enum BoundFile {
  private static let mostInOneCall = 64 << 10

  /// Makes a file of zeros if there is no file.
  static func make(_ path: String, bytes: Int) throws {
    guard !FileManager.default.fileExists(atPath: path) else { return }
    try write([UInt8](repeating: 0, count: bytes), to: path)
  }

  /// Writes a new file, and replaces an existing one.
  static func write(_ content: [UInt8], to path: String) throws {
    let descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC, 0o600)
    guard descriptor >= 0 else { throw BenchmarkError("\(path) can't be made") }
    defer { _ = Foundation.close(descriptor) }
    try write(content, to: descriptor, path)
  }

  static func write(_ content: [UInt8], to descriptor: Int32, _ path: String, at start: Int = 0) throws {
    var done = 0
    while done < content.count {
      let step = content.withUnsafeBytes {
        pwrite(
          descriptor, $0.baseAddress! + done, min(mostInOneCall, content.count - done), off_t(start + done))
      }
      guard step > 0 else { throw BenchmarkError("\(path) can't be written") }
      done += step
    }
  }
}
