import Foundation
import RealmSwift
import Testing

/// A trail in the mountains. Tests query trails by the region and the length.
class Trail: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var region = ""
  @Persisted var length = 0
  /// The name, which queries may not use.
  @Persisted var name = ""
  @Persisted var hut: Hut?
  @Persisted var signs: List<Signpost>

  convenience init(_ id: Int, _ region: String, length: Int = 0, name: String = "", hut: Hut? = nil) {
    self.init()
    (self.id, self.region, self.length) = (id, region, length)
    (self.name, self.hut) = (name, hut)
  }
}

/// A hut at the end of trails.
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
  /// A definition in which all users read and write all trails and huts, and queries may use some of their properties.
  static let trails = """
    development: true
    fields:
      Trail: [region, length]
      Hut: [beds]

    """
}

extension User {
  /// The configuration of a file with trails and huts, which has no subscriptions at first.
  ///
  /// - Parameter url: The URL of the file; nil for the user's file. Another file is another device of the user.
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

  /// Opens a realm that has a subscription `alps` to the trails of the Alps.
  @MainActor func alpineTrails() async throws -> Realm {
    let realm = try opened(trails())
    try await realm.ask { $0.append(QuerySubscription<Trail>(name: "alps") { $0.region == "Alps" }) }
    return realm
  }
}

extension SyncSubscriptionSet {
  /// Changes the set without waiting for the server. In an async function `update` waits if it has no `onComplete`.
  func change(_ body: () -> Void) { update(body) }

  /// The names of the subscriptions that have one.
  var names: [String] { compactMap { $0.name } }
}

extension Realm {
  /// Changes the subscriptions, and waits until their objects are here.
  ///
  /// - Throws: The reason why they do not come.
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

  /// The trail with an id.
  func trail(_ id: Int) -> Trail? { object(ofType: Trail.self, forPrimaryKey: id) }

  /// The trails in the Alps that are here.
  var alps: Results<Trail> { objects(Trail.self).where { $0.region == "Alps" } }

  /// The trails in the Andes that are here.
  var andes: Results<Trail> { objects(Trail.self).where { $0.region == "Andes" } }
}

/// The error that `body` throws; nil if it throws none.
@MainActor func thrown(by body: @MainActor () async throws -> Void) async -> (any Error)? {
  do {
    try await body()
    return nil
  } catch {
    return error
  }
}

/// True if an error reports a timeout.
func isTimeout(_ error: (any Error)?) -> Bool {
  guard let error = error.map({ $0 as NSError }) else { return false }
  return error.domain == NSPOSIXErrorDomain && error.code == Int(ETIMEDOUT)
}

/// Calls `body` with a server with the trails 1 and 2 in the Alps and 3 in the Andes. The second of two users has made
/// them and sees all of them.
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
