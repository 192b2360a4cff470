import Foundation
import RealmStorage

/// The realm that a new one begins as a copy of.
enum SeedFile {
  /// Copies it where there is no file yet, which appears at once and whole.
  ///
  /// - Throws: `Realm.Error`.
  static func copy(_ configuration: Realm.Configuration) throws {
    guard let seed = configuration.seedFilePath else { return }
    let target = configuration.url
    let files = FileManager.default
    guard !files.fileExists(atPath: target.path) else { return }
    guard files.fileExists(atPath: seed.path) else {
      throw Realm.Error(
        .fileNotFound,
        "There is no seed file \(seed.path) to begin \(target.path) with; set seedFilePath to one that is there.",
        path: seed.path)
    }
    let copy = target.appendingPathExtension("seed-\(UUID().uuidString)")
    defer { try? files.removeItem(at: copy) }
    do {
      try files.createDirectory(at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
      // What a link leads to.
      try files.copyItem(at: seed.resolvingSymlinksInPath(), to: copy)
      try letOwnerWrite(copy.path)
      _ = try FileStorage.place(copy.path, at: target.path)
    } catch {
      // Who was faster has made the file.
      guard !files.fileExists(atPath: target.path) else { return }
      throw Realm.Error(
        .fileOperationFailed, "\(seed.path) can't be copied to \(target.path): \(error.localizedDescription)",
        path: target.path)
    }
  }

  /// An app's own files often can't be written to. Who else may read them stays as it was.
  private static func letOwnerWrite(_ path: String) throws {
    let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
    try FileManager.default.setAttributes(
      [.posixPermissions: (permissions?.intValue ?? 0) | 0o600], ofItemAtPath: path)
  }
}
