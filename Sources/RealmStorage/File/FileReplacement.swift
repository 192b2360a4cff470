#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A database that is made beside a path, to appear there when it is complete.
///
/// Nobody but its owner may read it meanwhile; in the end it has the mode, and where it takes another's place the owner, of the
/// file it comes from.
struct FileReplacement {
  /// Where it is made.
  let path: String
  private let target: String

  private static let digits = 16
  /// The word for a file that is compacted.
  static let compacting = "compact"

  /// - Parameter word: tells what is being done, to who finds the file after a crash.
  init(of target: String, word: String) {
    self.target = target
    let number = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    path = "\(target).\(word)-" + String(repeating: "0", count: Self.digits - number.count) + number
  }

  /// Lets its owner read it only; answers what its mode was.
  func restrict() throws(StorageError) -> mode_t {
    let mode = try Self.status(path).st_mode & 0o7777
    try setMode(0o600)
    return mode
  }

  func setMode(_ mode: mode_t) throws(StorageError) {
    guard chmod(path, mode) == 0 else { throw .system(call: .stat, errno: errno, path: path, offset: nil) }
  }

  /// Makes it appear where there is no file yet.
  ///
  /// - Parameter mode: where there is no file at `source`, whose mode it gets.
  func place(mode: mode_t, like source: String) throws(StorageError) {
    try setMode((try? Self.status(source).st_mode & 0o7777) ?? mode)
    guard try FileStorage.place(path, at: target) else { throw FileStorage.alreadyThere(target) }
  }

  /// Puts it, which is durable, in the place of the file at the target.
  ///
  /// - Throws: `.system` where the owner can't be kept.
  func replace() throws(StorageError) {
    let old = try Self.status(target)
    let own = try Self.status(path)
    if own.st_uid != old.st_uid || own.st_gid != old.st_gid, chown(path, old.st_uid, old.st_gid) != 0 {
      throw .system(call: .rename, errno: errno, path: target, offset: nil)
    }
    try setMode(old.st_mode & 0o7777)
    guard rename(path, target) == 0 else {
      throw .system(call: .rename, errno: errno, path: target, offset: nil)
    }
    try FileStorage.syncFolder(of: target, NativeSystemCalls())
  }

  /// Removes what is left of it.
  func remove() { Self.remove(path) }

  private static func remove(_ path: String) {
    unlink(path)
    _ = try? FileRemoval.removeCompanions(of: path)
  }

  /// Removes those of a target that were broken off.
  ///
  /// - Precondition: nobody makes one now.
  static func removeBrokenOff(of target: String, word: String) {
    let end = target.lastIndex(of: "/")
    let folder = end.map { $0 == target.startIndex ? "/" : String(target[..<$0]) } ?? "."
    let prefix = (end.map { String(target[target.index(after: $0)...]) } ?? target) + ".\(word)-"
    guard let entries = opendir(folder) else { return }
    defer { closedir(entries) }
    var names: [String] = []
    while let entry = readdir(entries) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: name.pointee)) {
          String(cString: $0)
        }
      }
      let rest = name.dropFirst(prefix.count)
      if name.hasPrefix(prefix), rest.count == digits, rest.allSatisfy(\.isHexDigit) { names.append(name) }
    }
    for name in names { remove(folder + "/" + name) }
  }

  private static func status(_ path: String) throws(StorageError) -> stat {
    var info = stat()
    guard stat(path, &info) == 0 else { throw .system(call: .stat, errno: errno, path: path, offset: nil) }
    return info
  }
}
