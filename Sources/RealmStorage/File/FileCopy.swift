import CRealmPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Copies the bytes of a file, with descriptors that are not those of standard input, output or error.
package enum FileCopy {
  private static let step = 1 << 20

  /// Makes a file with the same bytes at a path where no file is. It has the mode of the source, and its owner may read
  /// and write it.
  ///
  /// - Throws: `.system`. No file is left then.
  package static func make(
    _ target: String, of source: String, calls: any SystemCalls = NativeSystemCalls()
  ) throws(StorageError) {
    let from = try calls.opened(source, O_RDONLY)
    defer { _ = cp_close(from) }
    let to = try calls.opened(target, O_WRONLY | O_CREAT | O_EXCL)
    defer { _ = cp_close(to) }
    do throws(StorageError) {
      let mode = try calls.status(from, path: source).st_mode & 0o7777
      guard fchmod(to, mode | 0o600) == 0 else {
        throw .system(call: .stat, errno: errno, path: target, offset: nil)
      }
      var done: UInt64 = 0
      while true {
        let bytes = try calls.read(step, from: from, at: done, path: source)
        if bytes.isEmpty { return }
        let refusal = bytes.withUnsafeBytes { calls.writeAll($0, to: to, at: done) }
        guard refusal == 0 else { throw .system(call: .write, errno: refusal, path: target, offset: done) }
        done += UInt64(bytes.count)
      }
    } catch {
      unlink(target)
      throw error
    }
  }
}
