import Foundation
import RealmSwift
import Testing

/// A trail in the mountains. Tests ask for some of them by the region and the length.
class Trail: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var region = ""
  @Persisted var length = 0
  /// No query may use it.
  @Persisted var name = ""
  @Persisted var hut: Hut?
  @Persisted var signs: List<Signpost>

  convenience init(_ id: Int, _ region: String, length: Int = 0, name: String = "", hut: Hut? = nil) {
    self.init()
    (self.id, self.region, self.length) = (id, region, length)
    (self.name, self.hut) = (name, hut)
  }
}

/// What trails lead to.
class Hut: Object {
  @Persisted(primaryKey: true) var id: String
  @Persisted var beds = 0

  convenience init(_ id: String, beds: Int = 0) {
    self.init()
    (self.id, self.beds) = (id, beds)
  }
}

/// A part of a trail.
class Signpost: EmbeddedObject {
  @Persisted var text = ""

  convenience init(_ text: String) {
    self.init()
    self.text = text
  }
}

extension SyncWorld {
  /// A definition in which everybody reads and writes all trails and huts, and queries may use some of their properties.
  static let trails = """
    development: true
    fields:
      Trail: [region, length]
      Hut: [beds]

    """
}

extension User {
  /// The configuration of a file with trails and huts, which asks for nothing at first.
  ///
  /// - Parameter url: of the file; nil for that of the user. Another file is another device of the user.
  func trails(at url: URL? = nil) -> Realm.Configuration {
    var configuration = flexibleSyncConfiguration()
    configuration.objectTypes = [Trail.self, Hut.self, Signpost.self]
    if let url { configuration.fileURL = url }
    return configuration
  }

  /// Opens a realm with all trails and huts.
  @MainActor func allTrails() async throws -> Realm {
    let realm = try opened(trails())
    try await realm.ask { set in
      set.append(QuerySubscription<Trail>())
      set.append(QuerySubscription<Hut>())
    }
    return realm
  }

  /// Opens a realm that has asked for the trails of the Alps, by a subscription of the name `alps`.
  @MainActor func alpineTrails() async throws -> Realm {
    let realm = try opened(trails())
    try await realm.ask { $0.append(QuerySubscription<Trail>(name: "alps") { $0.region == "Alps" }) }
    return realm
  }
}

extension SyncSubscriptionSet {
  /// Changes the set without waiting for the server. Called without `onComplete` in an async function, `update` waits.
  func change(_ body: () -> Void) { update(body) }

  /// The names, of those that have one.
  var names: [String] { compactMap { $0.name } }
}

extension Realm {
  /// Changes the subscriptions, and waits until the objects that they ask for are here.
  ///
  /// - Throws: why they do not come.
  @MainActor func ask(
    at place: SourceLocation = #_sourceLocation, _ body: (SyncSubscriptionSet) -> Void
  ) async throws {
    let set = subscriptions
    let results = Calls<(any Swift.Error)?>()
    set.update({ body(set) }, onComplete: { results.add($0) })
    if let error = try await results.first(at: place) { throw error }
    refresh()
  }

  /// Makes trails, and waits until the server has them.
  @MainActor func addTrails(_ trails: [Trail]) async throws {
    try write { add(trails) }
    try await upload()
  }

  /// The ids of all trails, in order.
  var trailIDs: [Int] { Array(objects(Trail.self).sorted(byKeyPath: "id").map(\.id)) }

  /// The trail of an id.
  func trail(_ id: Int) -> Trail? { object(ofType: Trail.self, forPrimaryKey: id) }

  /// Those of the trails in the Alps that are here.
  var alps: Results<Trail> { objects(Trail.self).where { $0.region == "Alps" } }

  /// Those of the trails in the Andes that are here.
  var andes: Results<Trail> { objects(Trail.self).where { $0.region == "Andes" } }
}

/// What `body` throws; nil where it throws nothing.
@MainActor func thrown(by body: @MainActor () async throws -> Void) async -> (any Error)? {
  do {
    try await body()
    return nil
  } catch {
    return error
  }
}

/// Whether an error says that time was up.
func isTimeout(_ error: (any Error)?) -> Bool {
  guard let error = error.map({ $0 as NSError }) else { return false }
  return error.domain == NSPOSIXErrorDomain && error.code == Int(ETIMEDOUT)
}

/// A server with the trails 1 and 2 in the Alps and 3 in the Andes, which the second of two users has made and sees all of.
@MainActor func withTrails(
  _ body: @MainActor (_ world: SyncWorld, _ user: User, _ others: Realm) async throws -> Void
) async throws {
  try await withWorld(SyncWorld.trails) { world in
    let users = try await world.users(2)
    let others = try await users[1].allTrails()
    try await others.addTrails([
      Trail(1, "Alps", length: 10), Trail(2, "Alps", length: 30), Trail(3, "Andes", length: 20),
    ])
    try await body(world, users[0], others)
  }
}
