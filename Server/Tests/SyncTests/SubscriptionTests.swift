import Foundation
import RealmSwift
import Testing

/// The subscriptions of a realm, and their states.
@Suite(.timeLimit(.minutes(3))) @MainActor struct SubscriptionTests {
  // MARK: - States

  @Test func `a set is pending until its objects are here, and then complete`() async throws {
    try await withTrails { _, user, _ in
      let realm = try opened(user.trails())
      try realm.sync().suspend()
      let set = realm.subscriptions
      set.change { set.append(QuerySubscription<Trail>(name: "alps") { $0.region == "Alps" }) }
      #expect(set.count == 1)
      #expect(set.state == .pending)
      #expect(realm.subscriptions.state == .pending)
      #expect(realm.trailIDs.isEmpty)
      try realm.sync().resume()
      try await eventually(in: realm) { realm.trailIDs == [1, 2] }
      #expect(set.state == .complete)
      #expect(realm.subscriptions.state == .complete)
    }
  }

  @Test func `an update that is waited for has its objects in the realm afterwards`() async throws {
    try await withTrails { _, user, _ in
      let realm = try opened(user.trails())
      let set = realm.subscriptions
      try await set.update { set.append(QuerySubscription<Trail> { $0.length > 15 }) }
      #expect(realm.trailIDs == [2, 3])
      #expect(set.state == .complete)
    }
  }

  @Test func `a set is superseded when a newer one is complete, and is in force until then`() async throws {
    try await withTrails { _, user, _ in
      let realm = try await user.alpineTrails()
      let (old, new) = (realm.subscriptions, realm.subscriptions)
      try realm.sync().suspend()
      new.change { new.append(QuerySubscription<Trail>(name: "andes") { $0.region == "Andes" }) }
      #expect(old.state == .complete && new.state == .pending)
      #expect(old.count == 1 && new.count == 2)
      #expect(realm.trailIDs == [1, 2])
      try realm.sync().resume()
      try await eventually(in: realm) { realm.trailIDs == [1, 2, 3] }
      #expect(old.state == .superseded && new.state == .complete)
    }
  }

  @Test func `a set that was never complete is also superseded, and is reported as if it had been complete`()
    async throws
  {
    try await withTrails { _, user, _ in
      let realm = try opened(user.trails())
      try realm.sync().suspend()
      let (first, second) = (realm.subscriptions, realm.subscriptions)
      let results = Calls<(any Error)?>()
      first.update(
        { first.append(QuerySubscription<Trail>(name: "alps") { $0.region == "Alps" }) },
        onComplete: { results.add($0) })
      second.update(
        { second.append(QuerySubscription<Trail>(name: "andes") { $0.region == "Andes" }) },
        onComplete: { results.add($0) })
      #expect(first.state == .pending && second.state == .pending)
      #expect(results.count == 0)
      try realm.sync().resume()
      try await eventually { results.count == 2 }
      #expect(results.all.allSatisfy { $0 == nil })
      #expect(first.state == .superseded && second.state == .complete)
      realm.refresh()
      #expect(realm.trailIDs == [1, 2, 3])
    }
  }

  @Test func `a property that no query may use makes an error, and the set before stays in force`()
    async throws
  {
    try await withTrails { _, user, others in
      let realm = try await user.alpineTrails()
      let set = realm.subscriptions
      let error = await thrown {
        try await realm.ask { $0.append(QuerySubscription<Trail>(name: "named") { $0.name == "Old" }) }
      }
      let failure = try #require(error as? Realm.Error)
      #expect(failure.code == .subscriptionFailed)
      for text in ["Trail", "name"] { #expect(failure.localizedDescription.contains(text)) }
      #expect(set.state == .complete)
      let refused = realm.subscriptions
      #expect(refused.count == 2)
      #expect(refused.state == .error(SyncError(.invalidFlexibleSyncSubscriptions)))
      if case .error(let problem) = refused.state {
        #expect(problem.localizedDescription.contains("name"))
      }
      // The session continues with the set before.
      try others.write { others.add(Trail(4, "Alps")) }
      try await eventually(in: realm) { realm.trailIDs == [1, 2, 4] }
      // The next update starts from the set that was refused.
      try await realm.ask { $0.remove(named: "named") }
      #expect(realm.subscriptions.names == ["alps"])
      #expect(realm.subscriptions.state == .complete && refused.state == .superseded)
    }
  }

  @Test func `an update that the server can't use throws, and its subscription stays`() async throws {
    try await withTrails { _, user, _ in
      let realm = try opened(user.trails())
      let set = realm.subscriptions
      let error = await thrown {
        try await set.update { set.append(QuerySubscription<Trail> { $0.hut.beds > 3 }) }
      }
      #expect((error as? Realm.Error)?.code == .subscriptionFailed)
      #expect(set.count == 1)
      // An app that is started again finds the reason.
      #expect(realm.subscriptions.state == .error(SyncError(.invalidFlexibleSyncSubscriptions)))
    }
  }

  @Test func `a wait for a set is told that the session has stopped, and the set is completed later`()
    async throws
  {
    try await withTrails { world, user, _ in
      await world.stop()
      let realm = try opened(user.trails())
      let set = realm.subscriptions
      let results = Calls<(any Error)?>()
      set.update({ set.append(QuerySubscription<Trail>()) }, onComplete: { results.add($0) })
      try await Task.sleep(for: .milliseconds(50))
      #expect(results.count == 0)
      try realm.sync().suspend()
      let error = try await results.first()
      #expect(error is SyncError)
      #expect(set.state == .pending)
      try await world.restart()
      try realm.sync().resume()
      try await eventually(in: realm) { realm.trailIDs == [1, 2, 3] }
      #expect(set.state == .complete)
      #expect(results.count == 1)
    }
  }

  @Test func `an update without changes does not change the state`() async throws {
    try await withTrails { _, user, _ in
      let realm = try await user.alpineTrails()
      try realm.sync().suspend()
      let set = realm.subscriptions
      set.change {}
      #expect(set.state == .complete && set.names == ["alps"])
      set.change { set.removeAll(ofType: Hut.self) }
      #expect(set.state == .complete && set.names == ["alps"])
    }
  }

  // MARK: - Their order and their names

  @Test func `subscriptions are in the order in which they were added`() async throws {
    try await withTrails { _, user, _ in
      let realm = try opened(user.trails())
      let set = realm.subscriptions
      #expect(set.count == 0 && set.first == nil && set.last == nil)
      let names = (0..<20).map { "region \($0)" }
      set.change {
        for (number, name) in names.enumerated() {
          set.append(QuerySubscription<Trail>(name: name) { $0.region == "\(number)" })
        }
      }
      #expect(set.count == 20)
      #expect(set.names == names)
      for (place, name) in names.enumerated() { #expect(set[place]?.name == name) }
      #expect(set.first?.name == "region 0" && set.last?.name == "region 19")
      var walked: [String] = []
      for subscription in set { walked.append(subscription.name ?? "-") }
      #expect(walked == names)
      set.change {
        set.remove(named: "region 7")
        set.append(QuerySubscription<Hut>(name: "huts"))
      }
      #expect(set.names == names.filter { $0 != "region 7" } + ["huts"])
      #expect(realm.subscriptions.names == set.names)
    }
  }

  @Test func `subscriptions are in the file when it is opened again`() async throws {
    try await withTrails { _, user, _ in
      do {
        let realm = try await user.alpineTrails()
        let set = realm.subscriptions
        set.change { set.append(QuerySubscription<Hut>()) }
      }
      try await eventually { user.allSessions.isEmpty }
      let realm = try opened(user.trails())
      #expect(realm.subscriptions.map(\.name) == ["alps", nil])
      #expect(realm.trailIDs == [1, 2])
    }
  }

  @Test func `a query is in a set once without a name, and once for each name`() async throws {
    try await withTrails { _, user, _ in
      let realm = try opened(user.trails())
      let set = realm.subscriptions
      let alps = QuerySubscription<Trail> { $0.region == "Alps" }
      set.change { set.append(alps, alps) }
      set.change { set.append(QuerySubscription<Trail> { $0.region == "Alps" }) }
      #expect(set.count == 1)
      set.change {
        for name in ["a", "b"] { set.append(QuerySubscription<Trail>(name: name) { $0.region == "Alps" }) }
      }
      #expect(set.map(\.name) == [nil, "a", "b"])
    }
  }

  @Test func `an update of an outdated set keeps the later changes of others`() async throws {
    try await withTrails { _, user, _ in
      let realm = try await user.alpineTrails()
      let (old, new) = (realm.subscriptions, realm.subscriptions)
      new.change {
        new.append(QuerySubscription<Trail>(name: "andes") { $0.region == "Andes" })
        new.remove(named: "alps")
      }
      #expect(old.names == ["alps"])
      old.change { old.append(QuerySubscription<Hut>(name: "huts")) }
      #expect(old.names == ["andes", "huts"])
      #expect(realm.subscriptions.names == ["andes", "huts"])
    }
  }

  // MARK: - Looking for one

  @Test func `a block sees the state before it, and finds the subscriptions that it has added`() async throws
  {
    try await withTrails { _, user, _ in
      let realm = try await user.alpineTrails()
      let set = realm.subscriptions
      set.change {
        set.append(QuerySubscription<Trail>(name: "far") { $0.region == "Alps" })
        #expect(set.count == 1 && set.names == ["alps"])
        set.first(named: "far")?.updateQuery(toType: Trail.self) { $0.region == "Andes" }
        set.remove(named: "alps")
        #expect(set.count == 1 && set.last?.name == "alps")
      }
      #expect(set.names == ["far"])
      try await eventually(in: realm) { realm.trailIDs == [3] }
    }
  }

  @Test func `a subscription is found by its name, and by its query`() async throws {
    try await withTrails { _, user, _ in
      let realm = try opened(user.trails())
      let set = realm.subscriptions
      set.change {
        set.append(QuerySubscription<Trail>(name: "alps") { $0.region == "Alps" && $0.length > 15 })
        set.append(QuerySubscription<Trail> { $0.region == "Andes" })
        set.append(QuerySubscription<Trail>(name: "long", where: "length > %@", 25))
        set.append(QuerySubscription<Hut>())
      }
      #expect(set.first(named: "alps")?.name == "alps")
      #expect(set.first(named: "Alps") == nil)
      #expect(set.first(ofType: Trail.self) { $0.region == "Alps" && $0.length > 15 }?.name == "alps")
      let format = set.first(ofType: Trail.self, where: "region == 'Alps' AND length > %@", 15)
      #expect(format?.name == "alps")
      let unnamed = set.first(ofType: Trail.self, where: "region == %@", "Andes")
      #expect(unnamed != nil && unnamed?.name == nil)
      #expect(set.first(ofType: Trail.self) { $0.length > 25 }?.name == "long")
      #expect(set.first(ofType: Trail.self) { $0.region == "Alps" } == nil)
      #expect(set.first(ofType: Hut.self) { $0.beds > 25 } == nil)
    }
  }

  // MARK: - Changing one

  @Test func `a named subscription with a new query keeps its place`() async throws {
    try await withTrails { _, user, _ in
      let realm = try await user.alpineTrails()
      try await realm.ask { $0.append(QuerySubscription<Hut>(name: "huts")) }
      let before = try #require(realm.subscriptions.first(named: "alps"))
      #expect(before.createdAt == before.updatedAt)
      #expect(abs(before.createdAt.timeIntervalSinceNow) < 60)
      try await Task.sleep(for: .milliseconds(5))
      try await realm.ask { set in
        set.first(named: "alps")?.updateQuery(toType: Trail.self) { $0.region == "Andes" }
      }
      let set = realm.subscriptions
      #expect(realm.trailIDs == [3])
      #expect(set.names == ["alps", "huts"])
      let after = try #require(set.first(named: "alps"))
      #expect(after.createdAt == before.createdAt && after.updatedAt > before.updatedAt)
      #expect(set.first(named: "huts")?.updatedAt == set.first(named: "huts")?.createdAt)
      #expect(set.first(ofType: Trail.self) { $0.region == "Andes" }?.name == "alps")
      #expect(set.first(ofType: Trail.self) { $0.region == "Alps" } == nil)
    }
  }

  @Test func `an unnamed subscription with a new query moves to the end`() async throws {
    try await withTrails { _, user, _ in
      let realm = try opened(user.trails())
      try await realm.ask { set in
        set.append(QuerySubscription<Trail> { $0.region == "Alps" })
        set.append(QuerySubscription<Hut>(name: "huts"))
      }
      try await realm.ask { set in
        set.first?.updateQuery(to: "region == %@", "Andes")
      }
      #expect(realm.trailIDs == [3])
      #expect(realm.subscriptions.map(\.name) == ["huts", nil])
      try await realm.ask { $0.last?.updateQuery(toType: Trail.self) }
      #expect(realm.trailIDs == [1, 2, 3])
      #expect(realm.subscriptions.count == 2)
    }
  }

  // MARK: - Removing some

  /// A set of subscriptions with names and without.
  private func several(_ user: User) throws -> SyncSubscriptionSet {
    let set = try opened(user.trails()).subscriptions
    set.change {
      set.append(QuerySubscription<Trail>(name: "alps") { $0.region == "Alps" })
      set.append(QuerySubscription<Trail> { $0.region == "Andes" })
      set.append(QuerySubscription<Trail>(name: "long") { $0.length > 25 })
      set.append(QuerySubscription<Hut>())
      set.append(QuerySubscription<Hut>(name: "large") { $0.beds > 10 })
    }
    return set
  }

  @Test func `subscriptions are removed by their names, and one by one`() async throws {
    try await withTrails { _, user, _ in
      let set = try several(user)
      set.change {
        set.remove(named: "long")
        set.remove(named: "nothing")
      }
      #expect(set.map(\.name) == ["alps", nil, nil, "large"])
      let (second, last) = (try #require(set[1]), try #require(set.last))
      set.change { set.remove(second, last) }
      #expect(set.map(\.name) == ["alps", nil])
      // The subscription is removed already.
      set.change { set.remove(second) }
      #expect(set.map(\.name) == ["alps", nil])
    }
  }

  @Test func `subscriptions are removed by their queries, with a name or without`() async throws {
    try await withTrails { _, user, _ in
      let set = try several(user)
      set.change {
        set.remove(ofType: Trail.self) { $0.region == "Alps" }
        set.remove(ofType: Trail.self, where: "region == %@", "Andes")
        set.remove(ofType: Hut.self) { $0.beds > 11 }
      }
      #expect(set.map(\.name) == ["long", nil, "large"])
    }
  }

  @Test func `all subscriptions are removed, or those of a class, or those without a name`() async throws {
    try await withTrails { _, user, _ in
      let set = try several(user)
      set.change { set.removeAll(ofType: Trail.self) }
      #expect(set.map(\.name) == [nil, "large"])
      set.change { set.removeAll(unnamedOnly: true) }
      #expect(set.map(\.name) == ["large"])
      set.change { set.removeAll() }
      #expect(set.count == 0)
      // The server accepts an empty set.
      try await eventually { set.state == .complete }
    }
  }
}
