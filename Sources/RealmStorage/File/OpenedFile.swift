import CRealmPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// An open file that is no storage yet. The engine judges its content before it makes anything beside it.
package struct OpenedFile: ByteSource {
  package let path: String
  package let isReadOnly: Bool
  let calls: any SystemCalls
  let descriptor: CInt
  /// A second descriptor of the same file, which is never locked. A mapping keeps the open file alive that it was made
  /// from, with its locks, even in a forked child that has closed the descriptor.
  let mapped: CInt
  let identity: FileIdentity

  /// Opens a file that exists.
  ///
  /// - Throws: `.system` when the system refuses, with `EISDIR` for a folder; `.notARealmFile` if the path leads to
  ///   something else, such as a pipe or a device.
  package init(path: String, readOnly: Bool, calls: any SystemCalls) throws(StorageError) {
    self.path = path
    self.calls = calls
    isReadOnly = readOnly
    // This comes before the opening, because to open a pipe would wait for a writer.
    try Self.requireFile(path)
    while true {
      let first = try calls.opened(path, readOnly ? O_RDONLY : O_RDWR)
      var second: CInt = -1
      do throws(StorageError) {
        second = try calls.opened(path, O_RDONLY)
        let (one, other) = (try calls.status(first, path: path), try calls.status(second, path: path))
        if FileIdentity(one) == FileIdentity(other) {
          (descriptor, mapped, identity) = (first, second, FileIdentity(one))
          cp_forget_in_child(descriptor)
          cp_forget_in_child(mapped)
          return
        }
      } catch {
        _ = cp_close(first)
        if second >= 0 { _ = cp_close(second) }
        throw error
      }
      // Another file was put at the path between the two calls.
      _ = cp_close(first)
      _ = cp_close(second)
    }
  }

  private static func requireFile(_ path: String) throws(StorageError) {
    var info = stat()
    // If nothing is there, the call that opens it reports that.
    guard stat(path, &info) == 0 else { return }
    switch info.st_mode & S_IFMT {
    case S_IFREG: return
    case S_IFDIR: throw .system(call: .open, errno: EISDIR, path: path, offset: nil)
    default: throw .notARealmFile(path: path)
    }
  }

  package func close() {
    _ = cp_close(descriptor)
    _ = cp_close(mapped)
  }

  package func length() throws(StorageError) -> UInt64 {
    let end = calls.end(descriptor)
    guard end >= 0 else { throw .system(call: .stat, errno: CInt(-end), path: path, offset: nil) }
    return UInt64(end)
  }

  package func read(_ count: Int, at offset: UInt64) throws(StorageError) -> [UInt8] {
    try calls.read(count, from: descriptor, at: offset, path: path)
  }

  /// - Precondition: the lock is one of the database file.
  package func isHeldElsewhere(_ lock: StorageLock) -> Bool { cp_is_locked(descriptor, lock.offset) != 0 }

  /// True if another handle, of this process or of another, has the file open as a database.
  package var isOpenElsewhere: Bool { isHeldElsewhere(.presence) || isHeldElsewhere(.unlistedReader) }

  // MARK: - An empty file

  /// Replaces the file, which is empty, by a database with the same mode and owner. Does nothing if another process was
  /// faster.
  ///
  /// This happens under the writer's lock of the empty file. If several processes do it at once, the second one finds,
  /// when it has the lock, that another file is at the path, which may hold commits by now. A crash leaves the empty
  /// file or the complete one.
  ///
  /// - Throws: `.system`, also if the owner can't be kept.
  package func replaceEmpty(with content: [UInt8]) throws(StorageError) {
    let refusal = calls.lock(descriptor, at: StorageLock.writer.offset, isShared: false, waits: true)
    guard refusal == 0 else { throw .system(call: .lock, errno: refusal, path: path, offset: nil) }
    defer { _ = cp_unlock(descriptor, StorageLock.writer.offset) }
    // If the path is a link, it leads to the new file afterwards.
    let target = FileStorage.resolved(path) ?? path
    let temporary = FileStorage.temporary(for: target)
    guard try isStillEmpty() else { return }
    let made = try calls.opened(temporary, O_WRONLY | O_CREAT | O_EXCL)
    defer { unlink(temporary) }
    do throws(StorageError) {
      try fill(made, with: content)
    } catch {
      _ = cp_close(made)
      throw error
    }
    _ = cp_close(made)
    // A file that another program has put there meanwhile must not be removed.
    guard try isStillEmpty() else { return }
    let renameRefusal = calls.rename(temporary, to: target)
    guard renameRefusal == 0 else {
      throw .system(call: .rename, errno: renameRefusal, path: path, offset: nil)
    }
    try FileStorage.syncFolder(of: target, calls)
  }

  private func fill(_ made: CInt, with content: [UInt8]) throws(StorageError) {
    let (old, new) = (try calls.status(descriptor, path: path), try calls.status(made, path: path))
    if old.st_uid != new.st_uid || old.st_gid != new.st_gid, fchown(made, old.st_uid, old.st_gid) != 0 {
      throw .system(call: .rename, errno: errno, path: path, offset: nil)
    }
    guard fchmod(made, old.st_mode & 0o7777) == 0 else {
      throw .system(call: .stat, errno: errno, path: path, offset: nil)
    }
    let refusal = content.withUnsafeBytes { calls.writeAll($0, to: made, at: 0) }
    guard refusal == 0 else { throw .system(call: .write, errno: refusal, path: path, offset: nil) }
    let syncRefusal = calls.sync(made, kind: .all)
    guard syncRefusal == 0 else { throw .system(call: .sync, errno: syncRefusal, path: path, offset: nil) }
  }

  private func isStillEmpty() throws(StorageError) -> Bool {
    var info = stat()
    return try length() == 0 && stat(path, &info) == 0 && FileIdentity(info) == identity
  }
}
