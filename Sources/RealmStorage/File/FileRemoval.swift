import CRealmPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Removes a database: its file and the files beside it.
///
/// All this happens under the control lock. A process that opens the database meanwhile waits for the lock, and then
/// finds that the files are not at their paths any more.
enum FileRemoval {
  /// Removes the database at `path`. Returns false if there was nothing.
  ///
  /// - Throws: `.inUse` if the database is open anywhere; `.system`.
  static func remove(_ path: String, calls: any SystemCalls = NativeSystemCalls()) throws(StorageError)
    -> Bool
  {
    try StorageError.startingOver { () throws(StorageError) in try removeOnce(path, calls) }
  }

  private static func removeOnce(_ path: String, _ calls: any SystemCalls) throws(StorageError) -> Bool {
    guard FileStorage.exists(path) else { return try removeLeftovers(of: path, calls) }
    let storage = try FileStorage(path: path, readOnly: false, calls: calls)
    defer { storage.close() }
    _ = try storage.lock(.control, waits: true)
    guard storage.isControlInPlace, storage.isFileInPlace else { throw .controlReplaced(path: path) }
    guard !storage.isHeldElsewhere(.presence), !storage.isHeldElsewhere(.unlistedReader) else {
      throw .inUse(path: path)
    }
    // A handle that was closed may still have a writer at work.
    _ = try storage.lock(.writer, waits: true)
    // If the path is a link, the link and its target are removed.
    let target = FileStorage.resolved(path)
    _ = try removed(path)
    if let target, target != path { _ = try removed(target) }
    FileReplacement.removeBrokenOff(of: target ?? path, word: FileReplacement.compacting)
    _ = try removeCompanions(of: path)
    try FileStorage.syncFolder(of: path, calls)
    return true
  }

  /// Removes the files beside a database whose own file is gone.
  private static func removeLeftovers(of path: String, _ calls: any SystemCalls) throws(StorageError) -> Bool
  {
    guard FileStorage.exists(path + ".management/control") else { return try removeCompanions(of: path) }
    let control = try ControlFile(
      beside: path, open: nil, bytes: ControlPlace.leastBytes, limit: ControlPlace.mostBytes, calls)
    let refusal = calls.lock(control.descriptor, at: StorageLock.control.offset, isShared: false, waits: true)
    let isMadeAnew = FileStorage.exists(path)
    guard refusal == 0, !isMadeAnew else {
      // This releases the lock. `remove` takes the lock of the new database again.
      _ = cp_close(control.descriptor)
      guard refusal == 0 else { throw .system(call: .lock, errno: refusal, path: path, offset: nil) }
      return try remove(path, calls: calls)
    }
    defer { _ = cp_close(control.descriptor) }
    return try removeCompanions(of: path)
  }

  /// Removes the control file, its folder and the pipe of a database. Returns false if there were none.
  static func removeCompanions(of path: String) throws(StorageError) -> Bool {
    let folder = path + ".management"
    let hadNote = try removed(path + ".note")
    let hadControl = try removed(folder + "/control")
    if rmdir(folder) == 0 { return true }
    // A folder stays if other programs have put files into it.
    guard [ENOENT, ENOTEMPTY, EEXIST].contains(errno) else {
      throw .system(call: .remove, errno: errno, path: folder, offset: nil)
    }
    return hadNote || hadControl
  }

  /// Removes a file that no other process knows of.
  static func removeFile(_ path: String) { unlink(path) }

  private static func removed(_ path: String) throws(StorageError) -> Bool {
    if unlink(path) == 0 { return true }
    guard errno == ENOENT || errno == ENOTDIR else {
      throw .system(call: .remove, errno: errno, path: path, offset: nil)
    }
    return false
  }
}
