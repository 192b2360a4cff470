import Foundation
import RealmSwift
import SyncPrograms

/// An object that a session of `Cutter` makes.
final class Item: Object {
  @Persisted(primaryKey: true) var id: Int
  /// The number of the session.
  @Persisted var session: Int
  @Persisted var count: Int
  @Persisted var list: List<Int>
}

/// An object that exists before all sessions.
final class Place: Object {
  @Persisted(primaryKey: true) var id: Int
  /// A session first sees the places of the kind 0, and those of the kind 1 after it has asked for them.
  @Persisted var kind: Int
}

/// Runs small sessions one after another, each of a new user with a new file. A session uploads, downloads, asks for
/// more objects, and uploads again. The connection of each session is cut after more bytes than the connection of the
/// previous one, until a session ends uncut.
///
/// The cutter prints `at BYTES` after each session, each problem in a line that begins with `lost`, `doubled`,
/// `diverged` or `error`, and at the end `done SESSIONS BYTES`.
@MainActor
final class Cutter {
  struct Options: Sendable {
    let server: Int
    let direction: CutRule.Direction
    let files: String
    let first: Int
    let step: Int
  }

  private let options: Options
  private let rule: CutRule
  private let proxy: TCPProxy
  private let app: App
  private var sessions = 0

  /// The number of items that a session makes.
  private static let items = 3
  /// The number of places of each kind.
  private static let places = 3

  /// The definition of the app that the cutter uses.
  nonisolated static func definition(of id: String) -> String {
    """
    id: \(id)
    development: true
    providers: [anonymous]
    fields:
      Item: [session]
      Place: [kind]

    """
  }

  init(_ options: Options) throws {
    let rule = CutRule(options.direction)
    (self.options, self.rule) = (options, rule)
    proxy = try TCPProxy(for: options.server) { rule.passage() }
    let settings = AppConfiguration(
      baseURL: proxy.address, syncTimeouts: SyncTimeoutOptions(connectionLingerTime: 0))
    settings.rootDirectory = URL(fileURLWithPath: options.files, isDirectory: true)
    app = App(id: options.direction.rawValue, configuration: settings)
    app.syncManager.errorHandler = { error, _ in say("error \(error.localizedDescription)") }
  }

  func run() async throws {
    try await makePlaces()
    var bytes = options.first
    repeat {
      sessions += 1
      let user = try await newUser()
      let configuration = configuration(of: user, session: sessions)
      rule.cutNext(behind: bytes)
      try await converse(configuration, sessions, bytes)
      let isCut = rule.end()
      try await forget(user, configuration)
      say("at \(bytes)")
      if !isCut { break }
      bytes += options.step
    } while true
    try await checkAll()
    say("done \(sessions) \(bytes)")
    _ = await Orders.next()
  }

  // MARK: - Users and files

  /// Logs in a new user. Each hundred users come from another address, because one address may make 200 users in ten
  /// minutes.
  private func newUser() async throws -> User {
    if sessions % 100 == 1 {
      let address = "10.0.\(sessions / 25_600).\(sessions / 100 % 256)"
      app.syncManager.customRequestHeaders = ["X-Forwarded-For": address]
    }
    return try await app.login(credentials: .anonymous)
  }

  private func configuration(of user: User, session: Int) -> Realm.Configuration {
    var configuration = user.flexibleSyncConfiguration(initialSubscriptions: { subscriptions in
      subscriptions.append(QuerySubscription<Item> { $0.session == session })
      subscriptions.append(QuerySubscription<Place> { $0.kind == 0 })
    })
    configuration.objectTypes = [Item.self, Place.self]
    return configuration
  }

  private func everything(of user: User) -> Realm.Configuration {
    var configuration = user.flexibleSyncConfiguration(initialSubscriptions: { subscriptions in
      subscriptions.append(QuerySubscription<Item>())
      subscriptions.append(QuerySubscription<Place>())
    })
    configuration.objectTypes = [Item.self, Place.self]
    return configuration
  }

  /// Opens a realm at once. The function is not async, because an async function can only open a realm with await.
  private func open(_ configuration: Realm.Configuration) throws -> Realm {
    try Realm(configuration: configuration)
  }

  /// Removes a user and its file after the session has ended. The session ends when all changes are uploaded.
  private func forget(_ user: User, _ configuration: Realm.Configuration) async throws {
    while !user.allSessions.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
    _ = try Realm.deleteFiles(for: configuration)
    try await user.remove()
  }

  private func makePlaces() async throws {
    let user = try await newUser()
    let configuration = everything(of: user)
    try await upload(configuration) { realm in
      for id in 0..<2 * Self.places {
        let place = Place()
        (place.id, place.kind) = (id, id % 2)
        realm.add(place)
      }
    }
    try await forget(user, configuration)
  }

  private func upload(_ configuration: Realm.Configuration, _ change: (Realm) -> Void) async throws {
    let realm = try open(configuration)
    try realm.write { change(realm) }
    try await realm.syncSession?.wait(for: .upload)
  }

  // MARK: - Sessions

  private func converse(_ configuration: Realm.Configuration, _ number: Int, _ bytes: Int) async throws {
    let realm = try open(configuration)
    guard let session = realm.syncSession else { fail("A realm that was opened has no session.") }
    let connecting = Task { await keepConnecting(session) }
    defer { connecting.cancel() }
    let items = (0..<Self.items).map { place in
      let item = Item()
      (item.id, item.session, item.count) = (number * Self.items + place, number, 1)
      item.list.append(1)
      return item
    }
    try realm.write { for item in items { realm.add(item) } }
    try await session.wait(for: .upload)
    _ = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
    let subscriptions = realm.subscriptions
    try await subscriptions.update {
      subscriptions.append(QuerySubscription<Place> { $0.kind == 1 })
    }
    try realm.write {
      items[0].increment(\.count)
      items[0].list.append(2)
    }
    try await session.wait(for: .upload)
    try await session.wait(for: .download)
    realm.refresh()
    let client = "The client of session \(number), cut behind \(bytes),"
    check(Array(realm.objects(Item.self)), of: number, client)
    let places = realm.objects(Place.self).count
    if places != 2 * Self.places { say("diverged \(client) has \(places) places.") }
  }

  /// Connects again at once instead of after a second. The next connection is not cut.
  private func keepConnecting(_ session: SyncSession) async {
    while !Task.isCancelled {
      if session.state == .active, session.connectionState == .disconnected { session.reconnect() }
      try? await Task.sleep(for: .milliseconds(5))
    }
  }

  /// Compares the objects of a session with the objects that the session has made.
  private func check(_ items: [Item], of number: Int, _ place: String) {
    for rank in 0..<Self.items {
      guard let item = items.first(where: { $0.id == number * Self.items + rank }) else {
        say("lost \(place) lacks an object.")
        continue
      }
      let expected = rank == 0 ? [1, 2] : [1]
      let (count, list) = (item.count, Array(item.list))
      if count < expected.count || list.count < expected.count {
        say("lost \(place) has the count \(count) and the list \(list).")
      } else if count != expected.count || list != expected {
        say("doubled \(place) has the count \(count) and the list \(list).")
      }
    }
    if items.count > Self.items { say("doubled \(place) has \(items.count) objects.") }
  }

  /// Checks that a new client gets all objects that the sessions have made.
  private func checkAll() async throws {
    sessions += 1
    let user = try await newUser()
    sessions -= 1
    let realm = try await Realm(configuration: everything(of: user), downloadBeforeOpen: .always)
    let all = Dictionary(grouping: realm.objects(Item.self), by: \.session)
    for number in 1...sessions { check(all[number] ?? [], of: number, "The server, of session \(number),") }
    if realm.objects(Place.self).count != 2 * Self.places { say("diverged The server has other places.") }
  }
}
