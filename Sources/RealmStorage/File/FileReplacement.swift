import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A database that is made beside a path, and appears there when it is complete.
///
/// Only its owner may read it meanwhile. In the end it has the mode of the file that it comes from, and if it replaces
/// that file, the owner too.
struct FileReplacement {
  /// The path of the file while it is made.
  let path: String
  private let target: String

  private static let digits = 16
  /// The word in the name of a file that a compaction makes.
  static let compacting = "compact"

  /// - Parameter word: Names the operation, for anyone who finds the file after a crash.
  init(of target: String, word: String) {
    self.target = target
    let number = String(UInt64.random(in: 0...UInt64.max), radix: 16)
    let path = "\(target).\(word)-" + String(repeating: "0", count: Self.digits - number.count) + number
    self.path = path
    Self.unfinished.withLock { _ = $0.insert(path) }
  }

  /// The paths of the files that this process is making.
  private static let unfinished = Mutex<Set<String>>([])

  /// Removes all files that this process is making. A program that a signal ends calls this function before it ends. Whatever
  /// still makes one of the files then fails.
  static func removeUnfinished() {
    for path in unfinished.withLock({ $0 }) {
      let (folder, name) = folder(of: path)
      // An empty database has another name before it has this one (`FileStorage`).
      for name in names(in: folder, beginningWith: name + ".new-") { unlink(folder + "/" + name) }
      remove(path)
    }
  }

  /// Lets only its owner read it. Returns the mode that it had.
  func restrict() throws(StorageError) -> mode_t {
    let mode = try Self.status(path).st_mode & 0o7777
    try setMode(0o600)
    return mode
  }

  func setMode(_ mode: mode_t) throws(StorageError) {
    guard chmod(path, mode) == 0 else { throw .system(call: .stat, errno: errno, path: path, offset: nil) }
  }

  /// Makes it appear at the target, where no file exists yet. It gets the mode of the file at `source`.
  ///
  /// - Parameter mode: The mode to use if there is no file at `source`.
  func place(mode: mode_t, like source: String) throws(StorageError) {
    try setMode((try? Self.status(source).st_mode & 0o7777) ?? mode)
    guard try FileStorage.place(path, at: target) else { throw FileStorage.alreadyThere(target) }
  }

  /// Puts it in the place of the file at the target.
  ///
  /// - Precondition: The new file is durable.
  /// - Throws: `.system`, also if the owner can't be kept.
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

  /// Removes the file and what stands beside it.
  func remove() {
    Self.remove(path)
    Self.unfinished.withLock { _ = $0.remove(path) }
  }

  private static func remove(_ path: String) {
    unlink(path)
    _ = try? FileRemoval.removeCompanions(of: path)
  }

  /// Removes the files of this kind that broken-off operations left beside a target.
  ///
  /// - Precondition: No such operation is running.
  static func removeBrokenOff(of target: String, word: String) {
    let (folder, name) = folder(of: target)
    let prefix = "\(name).\(word)-"
    for name in names(in: folder, beginningWith: prefix) {
      let rest = name.dropFirst(prefix.count)
      if rest.count == digits, rest.allSatisfy(\.isHexDigit) { remove(folder + "/" + name) }
    }
  }

  /// The folder of a file, and its name there.
  private static func folder(of path: String) -> (path: String, name: String) {
    guard let end = path.lastIndex(of: "/") else { return (".", path) }
    return (end == path.startIndex ? "/" : String(path[..<end]), String(path[path.index(after: end)...]))
  }

  private static func names(in folder: String, beginningWith prefix: String) -> [String] {
    guard let entries = opendir(folder) else { return [] }
    defer { closedir(entries) }
    var names: [String] = []
    while let entry = readdir(entries) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: name.pointee)) {
          String(cString: $0)
        }
      }
      if name.hasPrefix(prefix) { names.append(name) }
    }
    return names
  }

  private static func status(_ path: String) throws(StorageError) -> stat {
    var info = stat()
    guard stat(path, &info) == 0 else { throw .system(call: .stat, errno: errno, path: path, offset: nil) }
    return info
  }
}
