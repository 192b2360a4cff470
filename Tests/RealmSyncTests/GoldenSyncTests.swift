import Foundation
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport
import Testing

/// Files of servers and of clients that earlier versions of the library wrote, with uploads that no server had
/// received.
/// This library must continue them as if it had written them itself.
@Suite(.serialized) struct GoldenSyncTests {
  @Test(.enabled(if: GoldenFile.isWritten), arguments: [false, true])
  func `files of the current format are written where that is asked for`(isEncrypted: Bool) throws {
    let world = try SyncedWorld.make(seed: 1, key: isEncrypted ? GoldenFile.key : nil)
    let contents: [(GoldenFile.Content, [UInt8])] = [
      (.server, world.serverBytes), (.client, world.clientBytes), (.neighbour, world.neighbourBytes),
    ]
    for (content, bytes) in contents {
      let file = GoldenFile(.one, content, isEncrypted: isEncrypted)
      // The three files belong together: either all of them are written again, or none.
      guard !FileManager.default.fileExists(atPath: file.url.path) else {
        Issue.record("\(file) is there already")
        return
      }
      try Data(bytes).write(to: file.url)
    }
  }

  @Test(arguments: GoldenFile.Format.allCases, [false, true])
  func `a client's pending uploads reach the server and another client`(
    format: GoldenFile.Format, isEncrypted: Bool
  ) throws {
    let contents: [GoldenFile.Content] = [.server, .client, .neighbour]
    let databases = try contents.map { content in
      let file = GoldenFile(format, content, isEncrypted: isEncrypted)
      let storage = try ByteStorage()
      storage.fill(try file.bytes())
      return try Database(
        storage: storage, options: SyncedWorld.options(isClient: content.isSynced, file.key))
    }
    let server = try ServerPeer(databases[0], seed: SyncedWorld.talkSeed, time: SyncedWorld.time)
    let client = ClientPeer(databases[1], SyncedWorld.user)
    let neighbour = ClientPeer(databases[2], SyncedWorld.neighbour)
    #expect(try client.database.pendingChangesets().count == 6)
    let refusals = try client.database.inClientFile { try $0.refusals().count }
    let before = try server.texts()
    #expect(before[40] == nil && before[41] == nil && before[42] == nil && before[3] != nil)
    for peer in [client, neighbour, client] {
      #expect(try peer.exchange(with: server))
      #expect(peer.stop == nil && peer.resets == 0)
    }
    #expect(try client.database.pendingChangesets().isEmpty)
    #expect(try client.database.inClientFile { try $0.refusals().count } == refusals)
    let objects = try server.texts()
    #expect(objects[40] != nil && objects[41] != nil && objects[42] != nil && objects[3] == nil)
    #expect(try neighbour.texts() == objects)
    // The client sees all objects except the one that its query does not find.
    #expect(try client.texts() == objects.filter { $0.key != 50 })
    for database in databases {
      #expect(IntegrityCheck.run(try database.snapshot()).findings.isEmpty)
      database.close()
    }
  }
}
