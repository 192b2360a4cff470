import Foundation
import RealmStorage

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The key with which the metadata of an app is encrypted if the app's configuration gives none. The key is 64 random bytes in a
/// file that only its owner may read. No keychain is used on any system.
enum MetadataKey {
  private static let length = 64
  private static let mode: mode_t = 0o600

  /// The key in a file. If there is no file, one is made. If two processes make it at the same time, both get the same key.
  ///
  /// - Throws: `Realm.Error.fileOperationFailed` if the file can't be made or read.
  static func stored(at path: String) throws -> Data {
    if let key = try known(path) { return key }
    let key = Data(NodeCipher.randomBytes(length))
    let made = "\(path).\(ObjectId.generate().stringValue)"
    try make(made, key)
    defer { unlink(made) }
    // Unlike a rename, a link does not replace a file that another process has made in the meantime.
    if link(made, path) == 0 {
      syncFolder(of: path)
      return key
    }
    let number = errno
    guard number == EEXIST, let key = try known(path) else { throw failure("made", path, number) }
    return key
  }

  /// Reads the key of an existing file; nil if there is none. A file that does not have exactly 64 bytes is renamed, and the
  /// answer is nil.
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
    // Copying the folder may have given other users the right to read the file.
    chmod(path, mode)
    return key
  }

  /// Makes the file. From its first moment on, no other user can read it.
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

  /// Makes sure that the name of the file survives a loss of power. If the system refuses, the name usually survives all the
  /// same.
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
