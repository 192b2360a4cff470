import Dispatch
import Foundation
import RealmSwift

/// A to-do list in a folder, which a server keeps the same as those of other people.
@MainActor
final class SharedList {
  private let realm: Realm
  private let items: Results<Item>
  /// The id of the user.
  private let user: String
  private var observers: [NotificationToken] = []
  /// The last ping of each user that was seen.
  private var lastPings: [String: Int] = [:]
  private(set) var figures = Figures()

  /// Opens the list. The server has to be there the first time; from then on the list opens without a connection, too.
  init(server: String, app id: String, folder: URL) async throws {
    let settings = AppConfiguration(baseURL: server)
    settings.rootDirectory = folder
    let app = App(id: id, configuration: settings)
    app.syncManager.errorHandler = { error, _ in report(error) }
    // Whoever has logged in from this folder before is the same user again.
    let user = try await app.login(credentials: .anonymous)
    var configuration = user.flexibleSyncConfiguration(initialSubscriptions: { subscriptions in
      subscriptions.append(QuerySubscription<Item>(name: "items"))
      subscriptions.append(QuerySubscription<Ping>(name: "pings"))
    })
    configuration.objectTypes = [Item.self, Ping.self]
    let realm = try await Realm(configuration: configuration, downloadBeforeOpen: .once)
    self.realm = realm
    self.user = user.id
    items = realm.objects(Item.self).sorted(byKeyPath: "created")
  }

  // MARK: - What others do

  /// Calls `body` whenever others have changed the list. What is written here does not count.
  func observe(_ body: @escaping () -> Void) {
    let list = items.observe { [weak self] change in
      switch change {
      case .initial: break
      case .update(_, let deletions, let insertions, let modifications):
        self?.figures.seen += deletions.count + insertions.count + modifications.count
        body()
      case .error(let error): report(error)
      }
    }
    let pings = realm.objects(Ping.self).observe { [weak self] change in
      switch change {
      case .initial(let pings): self?.see(pings, isNew: false)
      case .update(let pings, _, _, _): self?.see(pings, isNew: true)
      case .error(let error): report(error)
      }
    }
    observers = [list, pings]
  }

  private func see(_ pings: Results<Ping>, isNew: Bool) {
    let now = Self.uptime
    for ping in pings where ping.sender != user && lastPings[ping.sender] != ping.sent {
      lastPings[ping.sender] = ping.sent
      // A ping from another machine has the time of another clock.
      guard isNew, ping.sent > 0, ping.sent <= now else { continue }
      figures.seen += 1
      figures.delays.append(now - ping.sent)
    }
  }

  /// In nanoseconds. All programs of a machine read the same clock.
  private static var uptime: Int { Int(clamping: DispatchTime.now().uptimeNanoseconds) }

  // MARK: - What is done here

  func add(_ text: String) throws {
    try write {
      realm.create(Item.self, value: ["text": text, "created": Date()] as [String: Any])
    }
  }

  func finish(_ number: Int) throws {
    let item = try item(number)
    try write { item.isDone = true }
  }

  func rename(_ number: Int, to text: String) throws {
    let item = try item(number)
    try write { item.text = text }
  }

  func add(step: String, to number: Int) throws {
    let item = try item(number)
    try write { item.steps.append(step) }
  }

  func count(_ number: Int, by amount: Int) throws {
    let item = try item(number)
    try write { item.increment(\.votes, by: amount) }
  }

  func delete(_ number: Int) throws {
    let item = try item(number)
    try write { realm.delete(item) }
  }

  /// Writes something so many times for others, and deletes it again.
  func ping(_ times: Int) async throws {
    _ = try connectedSession()
    for _ in 0..<times {
      let values: [String: Any] = ["sender": user, "sent": Self.uptime]
      try write { realm.create(Ping.self, value: values, update: .modified) }
      // Each is to travel alone.
      try await Task.sleep(for: .milliseconds(20))
    }
    let mine = realm.objects(Ping.self).where { $0.sender == user }
    try write { realm.delete(mine) }
  }

  private func item(_ number: Int) throws -> Item {
    guard number >= 1, number <= items.count else { throw Refusal("There is no item \(number).") }
    return items[number - 1]
  }

  private func write(_ block: () throws -> Void) throws {
    try realm.write(withoutNotifying: observers, block)
    figures.written += 1
  }

  // MARK: - The connection

  func goOffline() { realm.syncSession?.suspend() }
  func goOnline() { realm.syncSession?.resume() }

  /// What is to be known of the connection; nil where there is one.
  var connectionProblem: String? {
    guard let session = realm.syncSession, session.state == .active else { return "offline" }
    return session.connectionState == .connected ? nil : "connecting"
  }

  /// Waits until the server has all that is here, and all that the server has is here.
  func wait() async throws {
    let session = try connectedSession()
    try await session.wait(for: .upload)
    try await session.wait(for: .download)
    realm.refresh()
  }

  private func connectedSession() throws -> SyncSession {
    guard let session = realm.syncSession, session.state == .active else {
      throw Refusal("The list is offline; 'online' connects it.")
    }
    return session
  }

  // MARK: - How it looks

  /// The items with their numbers, and below each its steps.
  var text: String {
    var lines: [String] = []
    for (index, item) in items.enumerated() {
      let votes = item.votes == 0 ? "" : " (+\(item.votes))"
      lines.append("\(index + 1) [\(item.isDone ? "x" : " ")] \(item.text.printable)\(votes)")
      for step in item.steps { lines.append("      - \(step.printable)") }
    }
    return lines.isEmpty ? "The list is empty." : lines.joined(separator: "\n")
  }
}

extension String {
  /// Without what would move the cursor of a terminal: others may have written anything.
  var printable: String {
    String(String.UnicodeScalarView(unicodeScalars.filter { $0.properties.generalCategory != .control }))
  }
}

/// Tells the person at the terminal of an error that no command has led to.
func report(_ error: any Error) {
  FileHandle.standardError.write(Data("\(error.localizedDescription.printable)\n".utf8))
}
