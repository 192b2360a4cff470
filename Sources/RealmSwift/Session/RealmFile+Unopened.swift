import Foundation
import RealmStorage

/// Operations on a file that nothing in this process has open.
extension RealmFile {
  /// Compacts a file that nothing in this process has open, if the program's closure returns true. If the file can't be
  /// compacted, it stays as it is and can be opened.
  static func compact(_ configuration: Realm.Configuration) {
    guard let ask = configuration.shouldCompactOnLaunch, Realm.fileExists(for: configuration) else { return }
    let path = configuration.url.path
    do {
      // An empty file becomes a new realm.
      if try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == 0 { return }
      guard let (total, used) = try sizes(path, options(configuration)), ask(total, used) else { return }
      let isDone = try Database.compact(path: path, options: options(configuration))
      Logger.shared.log(.info, "\(path) \(isDone ? "was" : "is in use elsewhere and was not") compacted.")
    } catch {
      Logger.shared.log(.warn, "\(path) was not compacted: \(error)")
    }
  }

  /// The size of a file and the size of its content, in bytes; nil if compaction would gain nothing or another process
  /// has the file open.
  private static func sizes(
    _ path: String, _ options: Database.Options
  ) throws(StorageError) -> (total: Int, used: Int)? {
    let database = try Database(path: path, options: options)
    defer { database.close() }
    if database.isOpenElsewhere { return nil }
    let report = try database.storageReport()
    guard report.liveBytes < report.fileBytes else { return nil }
    return (Int(clamping: report.fileBytes), Int(clamping: report.liveBytes))
  }

  /// Throws an error if a synced file has changes that no server has, and the configuration has no sync. Such a file
  /// must be moved aside, and only its app knows into which folder. If the file can't be read, for example without its
  /// key, its changes can't be known, and no error is thrown.
  ///
  /// - Throws: `Realm.Error.incompatibleHistories`.
  static func checkIsUploaded(_ configuration: Realm.Configuration) throws {
    guard configuration.syncing == nil, Realm.fileExists(for: configuration),
      let count = pendingChangesets(configuration), count > 0
    else { return }
    let path = configuration.url.path
    throw Realm.Error(
      .incompatibleHistories,
      "\(path) is synced and has changes that were not uploaded, so that it is not deleted by a configuration without a "
        + "syncConfiguration. Delete it by the configuration that it is opened with: it is put aside then, into the folder recovered-realms.",
      path: path)
  }

  /// The number of changesets that no server is known to have accepted or refused; nil for a file that is not synced or can't be
  /// read.
  private static func pendingChangesets(_ configuration: Realm.Configuration) -> Int? {
    let key = configuration.encryptionKey.map { Array($0) }
    do throws(StorageError) {
      let database = try Database(path: configuration.url.path, options: .reading(key))
      defer { database.close() }
      let snapshot = try database.snapshot()
      return try snapshot.changelog()?.count(snapshot)
    } catch { return nil }
  }
}
