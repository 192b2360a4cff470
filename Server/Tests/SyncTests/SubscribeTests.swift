import Foundation
import RealmSwift
import Testing

/// `Results.subscribe` and `Results.unsubscribe`.
@Suite(.timeLimit(.minutes(3))) @MainActor struct SubscribeTests {
  /// The seconds after which a call fails that must return at once, if it waits for a server that is down.
  private static let atOnce = 5.0
  /// The seconds that a call waits for a server that is down.
  private static let shortly = 0.2

  /// Calls `body` with a realm without subscriptions, of a server that has the trails 1 and 2 in the Alps and 3 in the
  /// Andes.
  private func withRealm(_ body: @MainActor (Realm) async throws -> Void) async throws {
    try await withTrails { _, user, _ in try await body(try opened(user.trails())) }
  }

  // MARK: - Making a subscription

  @Test func `subscribe adds a subscription without a name, and waits for its objects`() async throws {
    try await withRealm { realm in
      let alps = realm.alps
      #expect(alps.isEmpty)
      let same = try await alps.subscribe()
      #expect(alps.count == 2 && same.count == 2)
      #expect(realm.trailIDs == [1, 2])
      let set = realm.subscriptions
      #expect(set.map(\.name) == [nil] && set.state == .complete)
      #expect(set.first(ofType: Trail.self) { $0.region == "Alps" } != nil)
    }
  }

  @Test func `all objects of a class may be subscribed to`() async throws {
    try await withRealm { realm in
      let trails = try await realm.objects(Trail.self).subscribe(name: "all")
      #expect(trails.count == 3)
      #expect(realm.subscriptions.names == ["all"])
    }
  }

  @Test func `a condition on results that already have one narrows the subscription`() async throws {
    try await withRealm { realm in
      let alps = try await realm.alps.subscribe()
      let long = try await alps.where { $0.length > 15 }.subscribe()
      #expect(long.count == 1 && alps.count == 2)
      #expect(realm.subscriptions.count == 2)
      #expect(realm.subscriptions.first(ofType: Trail.self) { $0.region == "Alps" && $0.length > 15 } != nil)
      alps.unsubscribe()
      try await eventually(in: realm) { realm.trailIDs == [2] }
    }
  }

  @Test func `the objects of a subscription and the objects that are shown may differ`() async throws {
    try await withRealm { realm in
      try await realm.objects(Trail.self).where { $0.length > 15 }.subscribe()
      #expect(realm.alps.count == 1 && realm.andes.count == 1)
    }
  }

  // MARK: - Which subscriptions are the same

  @Test func `the same query without a name is added once, and is not waited for the second time`()
    async throws
  {
    try await withRealm { realm in
      try await realm.alps.subscribe()
      try realm.sync().suspend()
      let alps = try await realm.alps.subscribe(timeout: Self.atOnce)
      #expect(alps.count == 2)
      #expect(realm.subscriptions.count == 1)
    }
  }

  @Test func `the same query with a name is added once, and is not waited for the second time`() async throws
  {
    try await withRealm { realm in
      try await realm.alps.subscribe(name: "alps")
      let before = realm.subscriptions.first?.updatedAt
      try realm.sync().suspend()
      try await realm.alps.subscribe(name: "alps", timeout: Self.atOnce)
      #expect(realm.subscriptions.names == ["alps"])
      #expect(realm.subscriptions.first?.updatedAt == before)
    }
  }

  @Test func `a query without an answer is not waited for the second time either`() async throws {
    try await withRealm { realm in
      try realm.sync().suspend()
      try await realm.alps.subscribe(waitForSync: .never)
      let alps = try await realm.alps.subscribe(timeout: Self.atOnce)
      #expect(alps.isEmpty && realm.subscriptions.count == 1)
    }
  }

  @Test func `the same query with another name, or without one, is another subscription`() async throws {
    try await withRealm { realm in
      try await realm.alps.subscribe(name: "first")
      try await realm.alps.subscribe(name: "second")
      #expect(realm.subscriptions.map(\.name) == ["first", "second"])
      try await realm.alps.subscribe()
      #expect(realm.subscriptions.map(\.name) == ["first", "second", nil])
      #expect(realm.trailIDs == [1, 2])
    }
  }

  @Test func `a name with another query is changed, and its objects are waited for`() async throws {
    try await withRealm { realm in
      try await realm.alps.subscribe(name: "mine")
      let andes = try await realm.andes.subscribe(name: "mine")
      #expect(andes.count == 1)
      #expect(realm.trailIDs == [3])
      #expect(realm.subscriptions.names == ["mine"])
      #expect(realm.subscriptions.first(ofType: Trail.self) { $0.region == "Andes" }?.name == "mine")
    }
  }

  @Test func `a name with another class is also changed`() async throws {
    try await withRealm { realm in
      try await realm.alps.subscribe(name: "mine")
      try await realm.objects(Hut.self).subscribe(name: "mine")
      #expect(realm.subscriptions.names == ["mine"])
      #expect(realm.trailIDs.isEmpty)
      try realm.write { realm.add(Hut("Lodge")) }
    }
  }

  // MARK: - Waiting

  @Test func `a subscription that is never waited for gets its objects later`() async throws {
    try await withRealm { realm in
      try realm.sync().suspend()
      let alps = try await realm.alps.subscribe(waitForSync: .never, timeout: Self.atOnce)
      #expect(alps.isEmpty)
      #expect(realm.subscriptions.count == 1 && realm.subscriptions.state == .pending)
      try realm.sync().resume()
      try await eventually(in: realm) { alps.count == 2 }
    }
  }

  @Test func `a subscription that is always waited for waits even if it exists already`() async throws {
    try await withRealm { realm in
      try realm.sync().suspend()
      try await realm.alps.subscribe(name: "alps", waitForSync: .never)
      let error = await thrown {
        try await realm.alps.subscribe(name: "alps", waitForSync: .always, timeout: Self.shortly)
      }
      #expect(isTimeout(error), "\(String(describing: error))")
      #expect(realm.subscriptions.count == 1)
      try realm.sync().resume()
      let alps = try await realm.alps.subscribe(name: "alps", waitForSync: .always)
      #expect(alps.count == 2 && realm.subscriptions.count == 1)
      // All objects are here, so there is nothing to wait for.
      try realm.sync().suspend()
      try await realm.alps.subscribe(name: "alps", waitForSync: .always, timeout: Self.atOnce)
    }
  }

  @Test func `after a timeout the subscription stays, and its objects come later`() async throws {
    try await withRealm { realm in
      try realm.sync().suspend()
      let error = await thrown { try await realm.alps.subscribe(timeout: Self.shortly) }
      #expect(isTimeout(error), "\(String(describing: error))")
      #expect(realm.subscriptions.count == 1 && realm.subscriptions.state == .pending)
      try realm.sync().resume()
      try await eventually(in: realm) { realm.trailIDs == [1, 2] }
      // The time is enough for these objects.
      let andes = try await realm.andes.subscribe(timeout: 20)
      #expect(andes.count == 1)
    }
  }

  @Test func `a task that is cancelled ends its wait, and the subscription stays`() async throws {
    try await withRealm { realm in
      try realm.sync().suspend()
      let alps = realm.alps
      let task = Task { @MainActor in
        _ = try await alps.subscribe()
      }
      try await eventually { realm.subscriptions.count == 1 }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await within { try await task.value } }
      #expect(realm.subscriptions.count == 1 && realm.subscriptions.state == .pending)
    }
  }

  @Test func `a wait for a subscription is told that the session has stopped`() async throws {
    try await withTrails { world, user, _ in
      await world.stop()
      let realm = try opened(user.trails())
      let alps = realm.alps
      let task = Task { @MainActor in
        _ = try await alps.subscribe()
      }
      try await eventually { realm.subscriptions.count == 1 }
      try await Task.sleep(for: .milliseconds(50))
      try realm.sync().suspend()
      await #expect(throws: SyncError.self) { try await within { try await task.value } }
      #expect(realm.subscriptions.count == 1)
    }
  }

  @Test func `a query that the server can't use throws an error that names the property`() async throws {
    try await withRealm { realm in
      let error = await thrown { try await realm.objects(Trail.self).where { $0.name == "Old" }.subscribe() }
      let failure = try #require(error as? Realm.Error)
      #expect(failure.code == .subscriptionFailed)
      for text in ["Trail", "name"] { #expect(failure.localizedDescription.contains(text)) }
      #expect(realm.subscriptions.state == .error(SyncError(.invalidFlexibleSyncSubscriptions)))
    }
  }

  private actor Guide {
    func trails(_ configuration: Realm.Configuration) async throws -> [Int] {
      let realm = try await Realm.open(configuration: configuration)
      let alps = try await realm.alps.subscribe(name: "alps")
      return Array(alps.sorted(byKeyPath: "id").map(\.id))
    }
  }

  @Test func `results of an actor's realm are subscribed to on the actor`() async throws {
    try await withTrails { _, user, _ in
      let (guide, configuration) = (Guide(), user.trails())
      let shown = try await within { try await guide.trails(configuration) }
      #expect(shown == [1, 2])
    }
  }

  // MARK: - Ending a subscription

  @Test func `unsubscribe removes the subscription that was made, and its objects`() async throws {
    try await withRealm { realm in
      for name in [nil, "alps"] {
        let alps = try await realm.alps.subscribe(name: name)
        #expect(realm.subscriptions.count == 1 && realm.trailIDs == [1, 2])
        alps.unsubscribe()
        #expect(realm.subscriptions.count == 0)
        try await eventually(in: realm) { alps.isEmpty }
        // There is nothing left to remove.
        alps.unsubscribe()
        #expect(realm.subscriptions.count == 0)
      }
    }
  }

  @Test func `results remove their own subscription, and no other one with the same query`() async throws {
    try await withRealm { realm in
      try await realm.alps.subscribe(name: "first")
      let second = try await realm.alps.subscribe(name: "second")
      try await realm.alps.subscribe()
      second.unsubscribe()
      #expect(realm.subscriptions.map(\.name) == ["first", nil])
      // These results have made no subscription, so they remove the one without a name that has the same query.
      realm.alps.unsubscribe()
      #expect(realm.subscriptions.names == ["first"])
      realm.alps.unsubscribe()
      realm.andes.unsubscribe()
      #expect(realm.subscriptions.names == ["first"])
      #expect(realm.trailIDs == [1, 2])
    }
  }

  @Test func `results that have found a subscription also remove it`() async throws {
    try await withRealm { realm in
      try await realm.alps.subscribe(name: "alps")
      let found = try await realm.alps.subscribe(name: "alps")
      found.unsubscribe()
      #expect(realm.subscriptions.count == 0)
    }
  }

  @Test func `a subscription can be removed without a connection`() async throws {
    try await withRealm { realm in
      let alps = try await realm.alps.subscribe()
      try realm.sync().suspend()
      alps.unsubscribe()
      #expect(realm.subscriptions.count == 0 && realm.subscriptions.state == .pending)
      #expect(alps.count == 2)
      try realm.sync().resume()
      try await eventually(in: realm) { alps.isEmpty }
    }
  }
}
