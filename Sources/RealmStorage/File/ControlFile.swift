import CPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The file in `NAME.management` that all participants of a database map.
///
/// What may be touched was written before, so that a full disk is an error here and not a signal later.
package final class ControlFile: Sendable {
  package let memory: SharedMemory
  let descriptor: CInt
  private let path: String
  private let identity: FileIdentity

  /// Opens the file, making it first where there is none, with `bytes` that may be touched.
  ///
  /// - Throws: `.system`.
  init(beside database: String, bytes: Int, limit: Int) throws(StorageError) {
    let folder = database + ".management"
    if mkdir(folder, 0o777) != 0, errno != EEXIST {
      throw .system(call: .makeDirectory, errno: errno, path: folder, offset: nil)
    }
    let path = folder + "/control"
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw .system(call: .open, errno: errno, path: path, offset: nil) }
    do throws(StorageError) {
      let (mapping, mapped) = try Self.map(path, limit)
      memory = SharedMemory(mapping) { (bytes) throws(StorageError) in
        try Self.extend(descriptor, to: bytes, path: path)
      }
      // Two that make the file at once: who came second would write zeros over what the first has put there.
      let lock = StorageLock.control.offset
      let refusal = cp_lock(descriptor, lock, 1, 1)
      guard refusal == 0 else { throw .system(call: .lock, errno: refusal, path: path, offset: nil) }
      defer { _ = cp_unlock(descriptor, lock) }
      try memory.reserve(bytes)
      var info = stat()
      guard fstat(descriptor, &info) == 0 else {
        throw .system(call: .stat, errno: errno, path: path, offset: nil)
      }
      identity = FileIdentity(info)
      guard mapped == identity else { throw .controlReplaced(path: database) }
    } catch {
      _ = cp_close(descriptor)
      throw error
    }
    self.descriptor = descriptor
    self.path = path
    cp_forget_in_child(descriptor)
  }

  /// The file mapped is the one at its path. False when somebody deleted or replaced it meanwhile.
  var isInPlace: Bool {
    var info = stat()
    return stat(path, &info) == 0 && identity == FileIdentity(info)
  }

  /// From an open file of its own: a mapping keeps its locks alive, in a forked child too.
  private static func map(_ path: String, _ limit: Int) throws(StorageError) -> (Mapping, FileIdentity) {
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(call: .open, errno: errno, path: path, offset: nil) }
    defer { _ = cp_close(descriptor) }
    guard let mapping = Mapping.file(descriptor, size: limit, writable: true) else {
      throw .system(call: .map, errno: errno, path: path, offset: nil)
    }
    var info = stat()
    guard fstat(descriptor, &info) == 0 else {
      throw .system(call: .stat, errno: errno, path: path, offset: nil)
    }
    return (mapping, FileIdentity(info))
  }

  /// Under the control lock.
  private static func extend(_ descriptor: CInt, to bytes: Int, path: String) throws(StorageError) {
    var info = stat()
    guard fstat(descriptor, &info) == 0 else {
      throw .system(call: .stat, errno: errno, path: path, offset: nil)
    }
    let zeros = [UInt8](repeating: 0, count: 4096)
    var offset = Int(info.st_size)
    while offset < bytes {
      let put = pwrite(descriptor, zeros, min(zeros.count, bytes - offset), off_t(offset))
      if put < 0, errno == EINTR { continue }
      guard put > 0 else { throw .system(call: .write, errno: errno, path: path, offset: UInt64(offset)) }
      offset += put
    }
  }
}
