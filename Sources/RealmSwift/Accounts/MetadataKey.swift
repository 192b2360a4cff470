import Foundation
import RealmStorage

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The key that the metadata of an app are encrypted with where the app gives none: 64 random bytes in a file that only its owner may read, on every
/// system. No keychain is asked.
enum MetadataKey {
  private static let length = 64
  private static let mode: mode_t = 0o600

  /// The key in a file, which is made where there is none. Whoever makes it at the same time has the same key then.
  ///
  /// - Throws: `Realm.Error`, where the file can't be made or read.
  static func stored(at path: String) throws -> Data {
    if let key = try known(path) { return key }
    let key = Data(NodeCipher.randomBytes(length))
    let made = "\(path).\(ObjectId.generate().stringValue)"
    try make(made, key)
    defer { unlink(made) }
    // Unlike a rename, a link does not take the place of what another process has made meanwhile.
    if link(made, path) == 0 {
      syncFolder(of: path)
      return key
    }
    let number = errno
    guard number == EEXIST, let key = try known(path) else { throw failure("made", path, number) }
    return key
  }

  /// The key that there is already; nil where there is none. A file that has none is put aside.
  private static func known(_ path: String) throws -> Data? {
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    guard let key = try? Data(contentsOf: URL(fileURLWithPath: path)) else {
      throw failure("read", path, EIO)
    }
    guard key.count == length else {
      let aside = "\(path).unreadable-\(ObjectId.generate().stringValue)"
      guard rename(path, aside) == 0 else { throw failure("put aside", path, errno) }
      Logger.shared.log(
        .error,
        "\(path) has \(key.count) bytes, and a key has \(length). It was put aside as \(aside), and another key is made."
      )
      return nil
    }
    // A copy of the folder may have given rights to others.
    chmod(path, mode)
    return key
  }

  /// Nobody else can read the file from its first moment on.
  private static func make(_ path: String, _ key: Data) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw failure("made", path, errno) }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    do {
      try file.write(contentsOf: key)
      try file.synchronize()
      try file.close()
    } catch {
      unlink(path)
      throw failure("written", path, EIO)
    }
  }

  /// After a loss of power the name of the file is there, too. Where the system refuses, it usually is.
  private static func syncFolder(of path: String) {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }

  private static func failure(_ what: String, _ path: String, _ number: CInt) -> Realm.Error {
    Realm.Error(
      .fileOperationFailed,
      "\(path), the key of the app's metadata, can't be \(what): the system answers error \(number). Check the owner and the rights "
        + "of its folder, or give AppConfiguration.metadataKey.", path: path)
  }
}
