import RealmStorage

@testable import RealmSwift

/// A sync without a server. A test writes to the file in its place, as a server's steps do.
struct SyncOfNobody: FileSyncMaker {
  private final class Sync: FileSync {
    func didCommit() {}
    func didOpen() {}
    func lastRealmClosed() {}
    func fileWillClose() {}
    func whenUpToDate(
      for maker: (any FileSyncMaker)?, _ body: @escaping @Sendable ((any Swift.Error)?) -> Void
    ) -> @Sendable () -> Void {
      body(nil)
      return {}
    }
    func end() {}
  }

  func check(_ configuration: Realm.Configuration) {}
  func isSame(as other: any FileSyncMaker) -> Bool { other is SyncOfNobody }
  func begin(_ file: RealmFile, _ hold: RealmFile.Hold) -> any FileSync {
    hold.end()
    return Sync()
  }
  func didOpen(_ realm: Realm, isFirst: Bool) throws {}
  func checkUser(_ configuration: Realm.Configuration) throws {}
  func willDelete(_ configuration: Realm.Configuration) throws -> @Sendable () -> Void { {} }
  var isFlexible: Bool { false }
  func subscribed(_ transaction: WriteTransaction) throws(StorageError) -> Set<String> { [] }
  func copy(_ realm: Realm, to configuration: Realm.Configuration) throws {}
}
