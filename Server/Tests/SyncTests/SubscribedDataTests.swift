import Foundation
import RealmSwift
import Testing

/// The effects of subscriptions on the objects of a realm.
@Suite(.timeLimit(.minutes(3))) @MainActor struct SubscribedDataTests {
  // MARK: - The view

  @Test func `a realm has the objects that any of its queries finds`() async throws {
    try await withTrails { _, user, others in
      let realm = try await user.alpineTrails()
      try await realm.ask { $0.append(QuerySubscription<Trail>(name: "long") { $0.length > 15 }) }
      #expect(realm.trailIDs == [1, 2, 3])
      try await realm.ask { $0.remove(named: "alps") }
      #expect(realm.trailIDs == [2, 3])
      try await realm.ask { $0.remove(named: "long") }
      #expect(realm.trailIDs.isEmpty)
      #expect(realm.subscriptions.state == .complete)
      // No object was deleted.
      try await others.download()
      #expect(others.trailIDs == [1, 2, 3])
    }
  }

  @Test func `objects that others change enter and leave the view of the queries`() async throws {
    try await withTrails { _, user, others in
      let realm = try await user.alpineTrails()
      try others.write {
        others.trail(1)?.region = "Andes"
        others.trail(3)?.region = "Alps"
        others.add(Trail(4, "Alps"))
        others.add(Trail(5, "Andes"))
      }
      try await eventually(in: realm) { realm.trailIDs == [2, 3, 4] }
    }
  }

  @Test func `objects leave with their query, and links to them are nil until they come back`() async throws {
    try await withTrails { _, user, others in
      try others.write { others.trail(1)?.hut = Hut("Lodge", beds: 12) }
      try await others.upload()
      let realm = try await user.alpineTrails()
      try await realm.ask { $0.append(QuerySubscription<Hut>(name: "huts")) }
      let trail = try #require(realm.trail(1))
      let hut = try #require(trail.hut)
      #expect(hut.id == "Lodge")
      try await realm.ask { $0.remove(named: "huts") }
      #expect(realm.objects(Hut.self).isEmpty && hut.isInvalidated)
      #expect(!trail.isInvalidated && trail.hut == nil)
      // An object that leaves the view is not changed.
      try await realm.upload()
      try await others.download()
      #expect(others.trail(1)?.hut?.beds == 12)
      try await realm.ask { $0.append(QuerySubscription<Hut>(name: "huts")) }
      #expect(trail.hut?.id == "Lodge")
    }
  }

  @Test func `an edit that moves an object out of the view removes it from the realm, and is kept`()
    async throws
  {
    try await withTrails { world, user, others in
      let errors = Calls<any Error>()
      world.app().syncManager.errorHandler = { error, _ in errors.add(error) }
      let realm = try await user.alpineTrails()
      try realm.write { realm.trail(1)?.region = "Andes" }
      #expect(realm.trailIDs == [1, 2])
      try await eventually(in: realm) { realm.trailIDs == [2] }
      try await eventually(in: others) { others.trail(1)?.region == "Andes" }
      #expect(errors.count == 0)
    }
  }

  @Test func `edits that were not uploaded arrive though the query of their objects is removed`() async throws
  {
    try await withTrails { world, user, others in
      let errors = Calls<any Error>()
      world.app().syncManager.errorHandler = { error, _ in errors.add(error) }
      let realm = try await user.alpineTrails()
      try realm.sync().suspend()
      try realm.write {
        realm.trail(1)?.name = "Old Road"
        if let gone = realm.trail(2) { realm.delete(gone) }
        realm.add(Trail(6, "Alps"))
      }
      let set = realm.subscriptions
      set.change { set.removeAll() }
      #expect(realm.trailIDs == [1, 6])
      try realm.sync().resume()
      try await eventually(in: realm) { realm.trailIDs.isEmpty }
      try await eventually(in: others) { others.trailIDs == [1, 3, 6] }
      #expect(others.trail(1)?.name == "Old Road")
      #expect(errors.count == 0)
    }
  }

  // MARK: - Writing

  @Test func `an object of a class without a subscription is refused, and the error says so`() async throws {
    try await withTrails { _, user, _ in
      let realm = try opened(user.trails())
      try await realm.ask { $0.append(QuerySubscription<Hut>()) }
      let error = await thrown {
        try realm.write {
          realm.add(Hut("Lodge"))
          realm.add(Trail(7, "Alps"))
        }
      }
      let failure = try #require(error as? Realm.Error)
      #expect(failure.code == .noSubscriptionForWrite)
      for text in ["Trail", "realm.subscriptions"] { #expect(failure.localizedDescription.contains(text)) }
      #expect((failure as NSError).code == 22)
      #expect(!realm.isInWriteTransaction)
      #expect(realm.trailIDs.isEmpty && realm.objects(Hut.self).isEmpty)
      // A transaction that the program commits itself is refused in the same way.
      realm.beginWrite()
      realm.add(Trail(7, "Alps"))
      let again = #expect(throws: Realm.Error.self) { try realm.commitWrite() }
      #expect(again?.code == .noSubscriptionForWrite)
      #expect(!realm.isInWriteTransaction && realm.trailIDs.isEmpty)
      try realm.write { realm.add(Hut("Lodge")) }
      #expect(realm.objects(Hut.self).count == 1)
    }
  }

  @Test func `an object that is added with another one also needs a subscription for its class`() async throws
  {
    try await withTrails { _, user, _ in
      let realm = try await user.alpineTrails()
      let error = await thrown {
        try realm.write { realm.add(Trail(7, "Alps", hut: Hut("Lodge"))) }
      }
      let failure = try #require(error as? Realm.Error)
      #expect(failure.code == .noSubscriptionForWrite)
      #expect(failure.localizedDescription.contains("Hut"))
      #expect(realm.trailIDs == [1, 2])
    }
  }

  @Test func `embedded objects need no subscription`() async throws {
    try await withTrails { _, user, others in
      let realm = try await user.alpineTrails()
      try realm.write {
        let trail = Trail(7, "Alps")
        trail.signs.append(objectsIn: [Signpost("up"), Signpost("down")])
        realm.add(trail)
      }
      try await realm.upload()
      try await others.download()
      #expect(others.trail(7).map { Array($0.signs.map(\.text)) } == ["up", "down"])
    }
  }

  @Test func `a subscription that the server does not know yet is enough for a write`() async throws {
    try await withTrails { world, user, others in
      await world.stop()
      let realm = try opened(user.trails())
      let set = realm.subscriptions
      set.change { set.append(QuerySubscription<Trail> { $0.region == "Alps" }) }
      try realm.write { realm.add(Trail(7, "Alps")) }
      #expect(realm.trailIDs == [7])
      try await world.restart()
      try realm.sync().reconnect()
      try others.sync().reconnect()
      try await eventually(in: realm) { realm.trailIDs == [1, 2, 7] }
      try await eventually(in: others) { others.trailIDs == [1, 2, 3, 7] }
    }
  }

  // MARK: - Initial subscriptions

  /// Asks for the trails of the Alps when the file is opened, and notes the number of existing subscriptions.
  private func initial(_ user: User, reruns: Bool) -> (Realm.Configuration, Calls<Int>) {
    let counts = Calls<Int>()
    var configuration = user.flexibleSyncConfiguration(
      initialSubscriptions: { set in
        counts.add(set.count)
        guard set.first(named: "alps") == nil else { return }
        set.append(QuerySubscription<Trail>(name: "alps") { $0.region == "Alps" })
      }, rerunOnOpen: reruns)
    configuration.objectTypes = [Trail.self, Hut.self, Signpost.self]
    return (configuration, counts)
  }

  @Test func `initial subscriptions are made in a new file, and an open that downloads waits for them`()
    async throws
  {
    try await withTrails { _, user, _ in
      let (configuration, counts) = initial(user, reruns: false)
      #expect(configuration.syncConfiguration?.initialSubscriptions?.rerunOnOpen == false)
      do {
        let realm = try await opened(configuration, .once)
        #expect(realm.trailIDs == [1, 2])
        #expect(realm.subscriptions.names == ["alps"] && realm.subscriptions.state == .complete)
      }
      try await eventually { user.allSessions.isEmpty }
      let realm = try opened(configuration)
      #expect(realm.subscriptions.count == 1 && realm.trailIDs == [1, 2])
      #expect(counts.all == [0])
    }
  }

  @Test func `initial subscriptions exist when a realm opens without a download`() async throws {
    try await withTrails { world, user, _ in
      await world.stop()
      let (configuration, counts) = initial(user, reruns: false)
      let realm = try opened(configuration)
      #expect(counts.all == [0])
      #expect(realm.subscriptions.names == ["alps"] && realm.subscriptions.state == .pending)
      try realm.write { realm.add(Trail(7, "Alps")) }
      #expect(realm.trailIDs == [7])
    }
  }

  @Test func `initial subscriptions that run again do so only if no realm has the file open`() async throws {
    try await withTrails { _, user, _ in
      let (configuration, counts) = initial(user, reruns: true)
      do {
        let first = try opened(configuration)
        let second = try await opened(configuration, .always)
        #expect(first == second && second.trailIDs == [1, 2])
        #expect(counts.all == [0])
      }
      try await eventually { user.allSessions.isEmpty }
      for runs in 2...3 {
        do {
          let realm = try await opened(configuration, .always)
          #expect(realm.subscriptions.names == ["alps"] && realm.trailIDs == [1, 2])
          #expect(counts.all == [0] + Array(repeating: 1, count: runs - 1))
        }
        try await eventually { user.allSessions.isEmpty }
      }
    }
  }

  @Test func `an open that waits for initial subscriptions fails if the server can't use them`() async throws
  {
    try await withTrails { _, user, _ in
      var configuration = user.flexibleSyncConfiguration(
        initialSubscriptions: { set in set.append(QuerySubscription<Trail> { $0.name == "Old" }) })
      configuration.objectTypes = [Trail.self, Hut.self, Signpost.self]
      let error = await thrown { _ = try await opened(configuration, .once) }
      let failure = try #require(error as? Realm.Error)
      #expect(failure.code == .subscriptionFailed)
      #expect(failure.localizedDescription.contains("name"))
    }
  }
}
