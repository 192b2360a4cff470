import Dispatch
import RealmSwift
import Testing

/// The code of an early description of flexible sync. Calls through this protocol to former names make no warnings of
/// the compiler.
private protocol PreviewSamples {
  func add(to realm: Realm) throws
  func removeOne(_ realm: Realm) throws
  func update(_ realm: Realm) throws
  func removeByName(_ realm: Realm) throws
  func removeAllOfAClass(_ realm: Realm) throws
  func count(_ realm: Realm) throws -> Int
  func fail(_ realm: Realm, _ error: any Error) throws
}

private struct Samples: PreviewSamples {
  @available(*, deprecated)
  func add(to realm: Realm) throws {
    let subscriptions = realm.subscriptions
    guard subscriptions.isEmpty else { return }
    try subscriptions.write {
      subscriptions.append {
        QuerySubscription<Trail>(name: "long-alpine") { $0.region == "Alps" && $0.length > 15 }
        QuerySubscription<Trail> { $0.region == "Andes" }
        QuerySubscription<Hut> { $0.beds > 10 }
      }
    }
  }

  @available(*, deprecated)
  func removeOne(_ realm: Realm) throws {
    let subscriptions = realm.subscriptions
    try subscriptions.write {
      subscriptions.remove { QuerySubscription<Trail> { $0.region == "Andes" } }
    }
  }

  @available(*, deprecated)
  func update(_ realm: Realm) throws {
    let subscriptions = realm.subscriptions
    let query = { QuerySubscription<Hut> { $0.beds > 10 } }
    guard let subscription = subscriptions.first(where: query) else { return }
    try subscriptions.write {
      subscription.update { QuerySubscription<Hut>(name: "all-huts") { $0.beds >= 0 } }
    }
  }

  @available(*, deprecated)
  func removeByName(_ realm: Realm) throws {
    let subscriptions = realm.subscriptions
    try subscriptions.write {
      guard let subscription = subscriptions.first(named: "all-huts") else { return }
      subscriptions.remove(subscription)
    }
  }

  @available(*, deprecated)
  func removeAllOfAClass(_ realm: Realm) throws {
    let subscriptions = realm.subscriptions
    try subscriptions.write { subscriptions.removeAll(ofType: Trail.self) }
  }

  @available(*, deprecated)
  func count(_ realm: Realm) throws -> Int {
    let subscriptions = realm.subscriptions
    return try subscriptions.write {
      subscriptions.append {
        for region in ["Alps", "Andes"] { QuerySubscription<Trail>(name: region) { $0.region == region } }
        if subscriptions.isEmpty { QuerySubscription<Hut>() }
      }
      return subscriptions.count
    }
  }

  @available(*, deprecated)
  func fail(_ realm: Realm, _ error: any Error) throws {
    let subscriptions = realm.subscriptions
    try subscriptions.write {
      subscriptions.removeAll()
      throw error
    }
  }
}

/// The interface of an early description of flexible sync. It is kept beside the final interface.
@Suite(.timeLimit(.minutes(3))) @MainActor struct PreviewSubscriptionTests {
  private let samples: any PreviewSamples = Samples()

  @Test func `the samples of the early description work`() async throws {
    try await withTrails { _, user, others in
      try others.write {
        others.add(Hut("Lodge", beds: 12))
        others.add(Hut("Cabin", beds: 4))
      }
      try await others.upload()
      let realm = try opened(user.trails())
      func huts() -> [String] { Array(realm.objects(Hut.self).sorted(byKeyPath: "id").map(\.id)) }
      #expect(realm.subscriptions.isEmpty)
      try samples.add(to: realm)
      #expect(realm.subscriptions.map(\.name) == ["long-alpine", nil, nil])
      try await eventually(in: realm) { realm.trailIDs == [2, 3] && huts() == ["Lodge"] }
      // If there are subscriptions already, none are added.
      try samples.add(to: realm)
      #expect(realm.subscriptions.count == 3)
      try samples.removeOne(realm)
      #expect(realm.subscriptions.map(\.name) == ["long-alpine", nil])
      try await eventually(in: realm) { realm.trailIDs == [2] }
      try samples.update(realm)
      #expect(realm.subscriptions.map(\.name) == ["long-alpine", "all-huts"])
      try await eventually(in: realm) { huts() == ["Cabin", "Lodge"] }
      try samples.removeByName(realm)
      #expect(realm.subscriptions.names == ["long-alpine"])
      try await eventually(in: realm) { huts().isEmpty }
      try samples.removeAllOfAClass(realm)
      #expect(realm.subscriptions.isEmpty)
      try await eventually(in: realm) { realm.trailIDs.isEmpty }
    }
  }

  @Test func `a block that throws changes nothing, and otherwise its result is returned`() async throws {
    try await withTrails { _, user, _ in
      let realm = try opened(user.trails())
      // The block sees the subscriptions before the change.
      #expect(try samples.count(realm) == 0)
      #expect(realm.subscriptions.map(\.name) == ["Alps", "Andes", nil])
      struct Stop: Error {}
      #expect(throws: Stop.self) { try samples.fail(realm, Stop()) }
      #expect(realm.subscriptions.count == 3)
    }
  }

  @Test func `a subscription is found by its name if a name is given, and otherwise by its query`()
    async throws
  {
    try await withTrails { _, user, _ in
      let realm = try opened(user.trails())
      let set = realm.subscriptions
      set.change {
        set.append {
          QuerySubscription<Trail>(name: "alps") { $0.region == "Alps" }
          QuerySubscription<Trail> { $0.region == "Andes" }
        }
      }
      #expect(set.first { QuerySubscription<Trail>(name: "alps") { $0.length > 15 } }?.name == "alps")
      #expect(set.first { QuerySubscription<Trail>(name: "andes") { $0.region == "Andes" } } == nil)
      #expect(set.first { QuerySubscription<Trail> { $0.region == "Alps" } }?.name == "alps")
      #expect(set.first { QuerySubscription<Trail> { $0.region == "Andes" } }?.createdAt != nil)
      #expect(set.first { QuerySubscription<Hut>() } == nil)
    }
  }

  // MARK: - States one after another

  @Test func `the states of a set are reported until it is complete`() async throws {
    try await withTrails { _, user, _ in
      let realm = try opened(user.trails())
      let session = try realm.sync()
      session.suspend()
      let set = realm.subscriptions
      set.change { set.append(QuerySubscription<Trail>()) }
      var states: [SyncSubscriptionState] = []
      for await state in set.state {
        states.append(state)
        if state == .pending { session.resume() }
      }
      #expect(states == [.pending, .complete])
      realm.refresh()
      #expect(realm.trailIDs == [1, 2, 3])
      // A set that is complete has only one state.
      states = []
      for state in set.state { states.append(state) }
      #expect(states == [.complete])
    }
  }

  @Test func `the states of a set end with an error, or when a newer set replaces it`() async throws {
    try await withTrails { _, user, _ in
      let realm = try opened(user.trails())
      let session = try realm.sync()
      session.suspend()
      let refused = realm.subscriptions
      refused.change { refused.append(QuerySubscription<Trail>(name: "named") { $0.name == "Old" }) }
      var states: [SyncSubscriptionState] = []
      for await state in refused.state {
        states.append(state)
        if state == .pending { session.resume() }
      }
      #expect(states == [.pending, .error(SyncError(.invalidFlexibleSyncSubscriptions))])
      session.suspend()
      let (old, new) = (realm.subscriptions, realm.subscriptions)
      old.change { old.removeAll() }
      new.change { new.append(QuerySubscription<Trail>()) }
      states = []
      for await state in old.state {
        states.append(state)
        if state == .pending { session.resume() }
      }
      #expect(states == [.pending, .superseded])
      #expect(new.state == .complete)
    }
  }

  @Test func `a plain loop over the states blocks its thread until the set is complete`() async throws {
    try await withTrails { _, user, _ in
      let (configuration, states) = (user.trails(), Calls<[SyncSubscriptionState]>())
      let queue = DispatchQueue(label: "states")
      queue.async {
        guard let realm = try? Realm(configuration: configuration, queue: queue) else {
          return states.add([])
        }
        let set = realm.subscriptions
        set.change { set.append(QuerySubscription<Trail> { $0.region == "Alps" }) }
        var seen: [SyncSubscriptionState] = []
        for state in set.state { seen.append(state) }
        realm.refresh()
        states.add(realm.trailIDs == [1, 2] ? seen : [])
      }
      let seen = try await states.first()
      #expect(seen.last == .complete && seen.dropLast().allSatisfy { $0 == .pending })
    }
  }
}
