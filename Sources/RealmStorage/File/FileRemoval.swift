import CRealmPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Removes a database: its file and what stands beside it.
///
/// All of it under the control lock: who opens the database meanwhile waits for that, and then finds that its files are
/// not at their paths any more.
enum FileRemoval {
  /// False where there was nothing.
  ///
  /// - Throws: `.inUse` where anyone has it open; `.system`.
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
    // A writer that was closed may still be at work.
    _ = try storage.lock(.writer, waits: true)
    // A path that is a link is removed with what it leads to.
    let target = FileStorage.resolved(path)
    _ = try removed(path)
    if let target, target != path { _ = try removed(target) }
    FileReplacement.removeBrokenOff(of: target ?? path, word: FileReplacement.compacting)
    _ = try removeCompanions(of: path)
    try FileStorage.syncFolder(of: path, calls)
    return true
  }

  /// Of a database whose file is gone.
  private static func removeLeftovers(of path: String, _ calls: any SystemCalls) throws(StorageError) -> Bool
  {
    guard FileStorage.exists(path + ".management/control") else { return try removeCompanions(of: path) }
    let control = try ControlFile(
      beside: path, open: nil, bytes: ControlPlace.leastBytes, limit: ControlPlace.mostBytes, calls)
    let refusal = calls.lock(control.descriptor, at: StorageLock.control.offset, isShared: false, waits: true)
    let isMadeAnew = FileStorage.exists(path)
    guard refusal == 0, !isMadeAnew else {
      // With the descriptor the lock goes, which is taken again for the file that is there now.
      _ = cp_close(control.descriptor)
      guard refusal == 0 else { throw .system(call: .lock, errno: refusal, path: path, offset: nil) }
      return try remove(path, calls: calls)
    }
    defer { _ = cp_close(control.descriptor) }
    return try removeCompanions(of: path)
  }

  /// What stands beside a database.
  static func removeCompanions(of path: String) throws(StorageError) -> Bool {
    let folder = path + ".management"
    let hadNote = try removed(path + ".note")
    let hadControl = try removed(folder + "/control")
    if rmdir(folder) == 0 { return true }
    // What others have put there stays.
    guard [ENOENT, ENOTEMPTY, EEXIST].contains(errno) else {
      throw .system(call: .remove, errno: errno, path: folder, offset: nil)
    }
    return hadNote || hadControl
  }

  /// Removes a file that nobody else knows of.
  static func removeFile(_ path: String) { unlink(path) }

  private static func removed(_ path: String) throws(StorageError) -> Bool {
    if unlink(path) == 0 { return true }
    guard errno == ENOENT || errno == ENOTDIR else {
      throw .system(call: .remove, errno: errno, path: path, offset: nil)
    }
    return false
  }
}
