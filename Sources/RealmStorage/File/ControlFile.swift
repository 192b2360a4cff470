import CRealmPlatform
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The file in `NAME.management` that all participants of a database map.
///
/// Bytes are written before they are touched, so that a full disk is an error here and not a signal later.
package final class ControlFile: Sendable {
  package let memory: SharedMemory
  let descriptor: CInt
  private let path: String
  private let identity: FileIdentity
  private let made: Made
  /// The time of the last check that found the file at its path, in the nanoseconds of `Clock.steady`.
  private let lastLook = Atomic<UInt64>(0)

  /// The things that this handle made, because they did not exist.
  private struct Made {
    var folder = false
    var file = false
  }

  /// Opens the file, or makes it if it does not exist. Its first `bytes` bytes may be touched.
  ///
  /// - Parameter file: The descriptor of the database; nil if the database file is gone.
  /// - Throws: `.system`; `.controlReplaced` if the file or its folder is replaced meanwhile. What was made is removed
  ///   then.
  init(
    beside database: String, open file: CInt?, bytes: Int, limit: Int, _ calls: any SystemCalls
  ) throws(StorageError) {
    let folder = database + ".management"
    let path = folder + "/control"
    let (descriptor, made) = try Self.made(path, in: folder, of: database, calls)
    do throws(StorageError) {
      let (mapping, mapped) = try Self.map(path, limit, of: database, calls)
      memory = SharedMemory(mapping) { (bytes) throws(StorageError) in
        try Self.extend(descriptor, to: bytes, path: path, calls)
      }
      // If two processes made the file at once, the second would write zeros over what the first has stored there.
      let lock = StorageLock.control.offset
      let refusal = calls.lock(descriptor, at: lock, isShared: false, waits: true)
      guard refusal == 0 else { throw .system(call: .lock, errno: refusal, path: path, offset: nil) }
      defer { _ = cp_unlock(descriptor, lock) }
      try memory.reserve(bytes)
      identity = FileIdentity(try calls.status(descriptor, path: path))
      guard mapped == identity else { throw .controlReplaced(path: database) }
    } catch {
      Self.remove(made, path, descriptor, beside: file)
      _ = cp_close(descriptor)
      throw error
    }
    self.descriptor = descriptor
    self.path = path
    self.made = made
    cp_forget_in_child(descriptor)
  }

  /// Removes what this handle made when it was opened, and a pipe. Does nothing if another handle has the database
  /// open, or if a failed sync is noted here.
  func removeWhatWasMade(beside file: CInt, and pipe: String?) {
    guard memory[word: ControlPlace.syncWord] == 0 else { return }
    Self.remove(made, path, descriptor, beside: file, and: pipe)
  }

  /// Removes these things under the control lock. A process that has opened the file meanwhile waits for this lock, and
  /// then finds that the file is not at its path any more.
  private static func remove(
    _ made: Made, _ path: String, _ descriptor: CInt, beside file: CInt?, and pipe: String? = nil
  ) {
    guard made.file || pipe != nil, cp_lock(descriptor, StorageLock.control.offset, 1, 1) == 0 else { return }
    defer { _ = cp_unlock(descriptor, StorageLock.control.offset) }
    var (here, there) = (stat(), stat())
    guard fstat(descriptor, &here) == 0, stat(path, &there) == 0, FileIdentity(here) == FileIdentity(there),
      let file, cp_is_locked(file, StorageLock.presence.offset) == 0,
      cp_is_locked(file, StorageLock.unlistedReader.offset) == 0
    else { return }
    if let pipe { unlink(pipe) }
    guard made.file else { return }
    // The process that opens the file next makes a control file of its own. It must not take this handle for one that shares
    // another control file.
    _ = cp_unlock(file, StorageLock.presence.offset)
    _ = cp_unlock(file, StorageLock.unlistedReader.offset)
    unlink(path)
    // Files that other programs have put there stay, and so does the folder then.
    if made.folder { rmdir(String(path.dropLast("/control".count))) }
  }

  /// True if the mapped file is the one at its path. False if it was deleted or replaced meanwhile. If its folder was
  /// renamed, the answer turns false a millisecond later at the latest: the lookup of a path takes as long as a tenth
  /// of a commit's own work, so it is not made each time.
  var isInPlace: Bool {
    var info = stat()
    guard fstat(descriptor, &info) == 0, info.st_nlink > 0 else { return false }
    let now = Clock.steady
    guard now &- lastLook.load(ordering: .relaxed) > Self.lookInterval else { return true }
    guard stat(path, &info) == 0, identity == FileIdentity(info) else { return false }
    lastLook.store(now, ordering: .relaxed)
    return true
  }
  /// The least time between two lookups of the path, in nanoseconds.
  private static let lookInterval: UInt64 = 1_000_000

  /// Maps the file from a descriptor of its own, because a mapping keeps the locks of its open file, in a forked child
  /// too.
  private static func map(
    _ path: String, _ limit: Int, of database: String, _ calls: any SystemCalls
  ) throws(StorageError) -> (Mapping, FileIdentity) {
    let descriptor = try opened(path, O_RDWR, of: database, calls)
    defer { _ = cp_close(descriptor) }
    let (mapping, refusal) = calls.map(descriptor, size: limit, writable: true)
    guard let mapping else { throw .system(call: .map, errno: refusal, path: path, offset: nil) }
    return (mapping, FileIdentity(try calls.status(descriptor, path: path)))
  }

  private static func made(
    _ path: String, in folder: String, of database: String, _ calls: any SystemCalls
  ) throws(StorageError) -> (CInt, Made) {
    var made = Made()
    let found = calls.open(path, O_RDWR)
    if found != -ENOENT {
      guard found >= 0 else { throw .system(call: .open, errno: -found, path: path, offset: nil) }
      return (found, made)
    }
    let refusal = calls.makeFolder(folder)
    guard refusal == 0 || refusal == EEXIST else {
      throw .system(call: .makeDirectory, errno: refusal, path: folder, offset: nil)
    }
    made.folder = refusal == 0
    let descriptor = calls.open(path, O_RDWR | O_CREAT | O_EXCL)
    if descriptor >= 0 {
      made.file = true
      return (descriptor, made)
    }
    do throws(StorageError) {
      // Another process was faster.
      if descriptor == -EEXIST { return (try opened(path, O_RDWR, of: database, calls), made) }
      throw descriptor == -ENOENT
        ? .controlReplaced(path: database)
        : .system(call: .open, errno: -descriptor, path: path, offset: nil)
    } catch {
      if made.folder { rmdir(folder) }
      throw error
    }
  }

  /// - Throws: `.controlReplaced` if the folder, which existed a moment ago, or the file in it is gone.
  private static func opened(
    _ path: String, _ flags: CInt, of database: String, _ calls: any SystemCalls
  ) throws(StorageError) -> CInt {
    do throws(StorageError) {
      return try calls.opened(path, flags)
    } catch {
      if case .system(_, ENOENT, _, _) = error { throw .controlReplaced(path: database) }
      throw error
    }
  }

  /// Makes the file at least `bytes` long.
  ///
  /// - Precondition: The caller holds the control lock.
  private static func extend(
    _ descriptor: CInt, to bytes: Int, path: String, _ calls: any SystemCalls
  ) throws(StorageError) {
    let start = Int(try calls.status(descriptor, path: path).st_size)
    guard start < bytes else { return }
    let zeros = [UInt8](repeating: 0, count: bytes - start)
    let refusal = zeros.withUnsafeBytes { calls.writeAll($0, to: descriptor, at: UInt64(start)) }
    guard refusal == 0 else {
      throw .system(call: .write, errno: refusal, path: path, offset: UInt64(start))
    }
  }
}
