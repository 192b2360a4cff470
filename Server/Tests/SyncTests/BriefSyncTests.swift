import Foundation
import RealmSwift
import Testing

/// A process that is woken for some seconds, as in Examples/Guides/BriefSync.swift.
@Suite(.timeLimit(.minutes(3))) @MainActor struct BriefSyncTests {
  /// Uploads the pending changes of a file, downloads the changes of the server, and disconnects.
  ///
  /// - Returns: False if the time was not enough.
  private static func sync(_ configuration: Realm.Configuration, within limit: Duration) async throws -> Bool
  {
    let realm = try await Realm(configuration: configuration)
    guard let session = realm.syncSession else { return true }
    session.resume()
    defer {
      session.suspend()
      withExtendedLifetime(realm) {}
    }
    return try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        try await session.wait(for: .upload)
        try await session.wait(for: .download)
        return true
      }
      group.addTask {
        try await Task.sleep(for: limit)
        return false
      }
      defer { group.cancelAll() }
      return try await group.next() ?? false
    }
  }

  /// Changes a file while its session is suspended.
  private func write(_ id: Int, _ configuration: Realm.Configuration) throws {
    let realm = try opened(configuration)
    try realm.sync().suspend()
    try realm.write { realm.add(Note(id)) }
  }

  @Test func `pending changes are uploaded, new ones are downloaded, and then the process disconnects`()
    async throws
  {
    try await withWorld { world in
      let users = try await world.users(2)
      try await users[0].uploadNotes(1...2)
      let configuration = users[1].notes()
      try write(3, configuration)
      let isDone = try await within { try await Self.sync(configuration, within: .seconds(15)) }
      #expect(isDone)
      try await eventually { try await world.metric("channels") == 0 }
      let other = try await opened(users[0].notes(), .always)
      #expect(other.noteIDs == [1, 2, 3])
      await world.stop()
      let realm = try opened(configuration)
      #expect(realm.noteIDs == [1, 2, 3])
    }
  }

  @Test func `work that was not done in the time is done the next time`() async throws {
    try await withWorld { world in
      let users = try await world.users(2)
      try await users[0].uploadNotes(1...1)
      await world.stop()
      let configuration = users[1].notes()
      try write(2, configuration)
      let isDoneAtOnce = try await within { try await Self.sync(configuration, within: .milliseconds(100)) }
      #expect(!isDoneAtOnce)
      try await world.restart()
      let isDone = try await within { try await Self.sync(configuration, within: .seconds(15)) }
      #expect(isDone)
      let other = try await opened(users[0].notes(), .always)
      #expect(other.noteIDs == [1, 2])
    }
  }
}
