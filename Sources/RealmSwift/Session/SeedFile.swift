import Foundation
import RealmStorage

/// Copies the file with which a new realm begins.
enum SeedFile {
  /// Copies the seed if the realm has no file yet. The copy appears at once and is complete. If the seed can't be
  /// opened, no file is made.
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
    // If the seed is a symbolic link, the file to which it leads is copied.
    let source = seed.resolvingSymlinksInPath().path
    let key = configuration.encryptionKey.map { Array($0) }
    try Realm.Error.wrapping { () throws(StorageError) in try Database.judge(path: source, encryptionKey: key)
    }
    var made: [URL] = []
    do {
      made = try makeFolder(target.deletingLastPathComponent())
      let copy = target.appendingPathExtension("seed-\(UUID().uuidString)").path
      try Database.placeCopy(
        of: source, made: copy, at: target.path, encryptionKey: key,
        history: configuration.syncing == nil ? .local : .synced)
    } catch {
      // Folders that are not empty are not removed.
      for folder in made.reversed() { rmdir(folder.path) }
      // If the file exists, another process was faster and has made it.
      guard !files.fileExists(atPath: target.path) else { return }
      if case .otherHistory(let isSynced, _)? = error as? StorageError {
        throw Realm.Error(
          .incompatibleHistories,
          "The seed file \(seed.path) is \(isSynced ? "" : "not ")synced, and the realm at \(target.path) is to be otherwise: set "
            + "seedFilePath to a file that writeCopy(configuration:) wrote for such a realm.", path: seed.path
        )
      }
      let known = (error as? StorageError).map { Realm.Error($0) }
      throw Realm.Error(
        known?.code ?? .fileOperationFailed,
        "\(seed.path) can't be copied to \(target.path): \((known ?? error).localizedDescription)",
        path: target.path)
    }
  }

  /// Makes a folder and those above it. Returns the folders that were missing, the outermost first.
  private static func makeFolder(_ folder: URL) throws -> [URL] {
    var missing: [URL] = []
    var next = folder
    while !FileManager.default.fileExists(atPath: next.path), next.path != "/" {
      missing.insert(next, at: 0)
      next = next.deletingLastPathComponent()
    }
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      for folder in missing.reversed() { rmdir(folder.path) }
      throw error
    }
    return missing
  }
}
