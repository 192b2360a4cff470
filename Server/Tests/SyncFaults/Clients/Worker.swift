import Foundation
import RealmSwift
import SyncPrograms
import Synchronization

/// A client that writes. It reports its commits, the acknowledgements of the server and other events, which
/// `WorkerProgram` reads.
///
/// It takes the orders `write PAUSE BYTES` (a pause in microseconds between two commits, and the length of the texts),
/// `stop`, `preload COUNT`, `settle`, `content`, `suspend`, `resume` and `ping`.
@MainActor
final class Worker {
  struct Options: Sendable {
    let server: String
    let files: String
    let author: Int
    let durability: Durability
  }

  private let options: Options

  init(_ options: Options) { self.options = options }

  func run() async throws {
    let user = await logIn()
    let configuration = configuration(of: user)
    let realm = try open(configuration)
    guard let session = realm.syncSession else { fail("A realm that was opened has no session.") }
    let writer = AuthorWriter(realm, options.author, isRelaxed: options.durability == .relaxed)
    say("open \(writer.number)")
    note("open \(writer.number) of the user \(user.id) at \(Date())")
    let token = tellDownload(of: session, configuration)
    Task { await tellUploads(of: session, by: writer) }
    Task { await keepConnecting(session) }
    while true {
      try await follow(Orders.next(), writer, session, configuration)
      withExtendedLifetime(token) {}
    }
  }

  // MARK: - Opening

  /// Logs in a user. It is the same user whenever the program begins with the same files.
  private func logIn() async -> User {
    // A session that is suspended leaves no connection open.
    let settings = AppConfiguration(
      baseURL: options.server, syncTimeouts: SyncTimeoutOptions(connectionLingerTime: 0))
    settings.rootDirectory = URL(fileURLWithPath: options.files, isDirectory: true)
    let app = App(id: "dev", configuration: settings)
    app.syncManager.errorHandler = { error, _ in
      say("error \((error as? SyncError)?.code.rawValue ?? 0) \(error.localizedDescription)")
      note("error at \(Date()): \(error.localizedDescription)")
    }
    while true {
      do {
        return try await app.login(credentials: .anonymous)
      } catch {
        // The server may be down.
        note("log-in: \(error.localizedDescription)")
        try? await Task.sleep(for: .milliseconds(200))
      }
    }
  }

  private func configuration(of user: User) -> Realm.Configuration {
    let author = options.author
    var configuration = user.flexibleSyncConfiguration(
      clientResetMode: .recoverUnsyncedChanges(
        beforeReset: { realm in
          let last = realm.object(ofType: Author.self, forPrimaryKey: author)?.last ?? 0
          say("resetting \(last) \(realm.objects(Entry.self).count)")
        },
        afterReset: { _, _ in
          say("reset")
          note("reset at \(Date())")
        }),
      initialSubscriptions: { subscriptions in
        subscriptions.append(QuerySubscription<Author>())
        subscriptions.append(QuerySubscription<Board>())
        subscriptions.append(QuerySubscription<Entry>())
      })
    configuration.objectTypes = [Author.self, Board.self, Entry.self]
    return configuration
  }

  /// Opens a realm at once. The function is not async, because an async function can only open a realm with await.
  private func open(_ configuration: Realm.Configuration) throws -> Realm {
    try Realm(configuration: configuration)
  }

  // MARK: - What happens by itself

  /// Reports when the first part of a download has come, and when all objects that the server had are there.
  private func tellDownload(
    of session: SyncSession, _ configuration: Realm.Configuration
  ) -> SyncSession.ProgressNotificationToken? {
    let isFirst = Atomic<Bool>(true)
    let token = session.addProgressNotification(for: .download, mode: .reportIndefinitely) { progress in
      guard !progress.isTransferComplete, isFirst.exchange(false, ordering: .relaxed) else { return }
      say("downloading")
    }
    Task {
      do {
        _ = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
        say("downloaded")
      } catch {
        note("download: \(error.localizedDescription)")
      }
    }
    return token
  }

  private func tellUploads(of session: SyncSession, by writer: AuthorWriter) async {
    var told = 0
    while true {
      let number = writer.number
      do {
        try await session.wait(for: .upload)
        writer.settled = number
        if number > told { say("u \(number)") }
        told = number
        try await Task.sleep(for: .milliseconds(20))
      } catch {
        // The session was suspended, or has ended with an error that was reported.
        try? await Task.sleep(for: .milliseconds(100))
      }
    }
  }

  /// Connects again at once when the server is back, as an app does when its network is back. It does not restart a
  /// session that has ended.
  private func keepConnecting(_ session: SyncSession) async {
    while true {
      if session.state == .active, session.connectionState == .disconnected { session.reconnect() }
      try? await Task.sleep(for: .milliseconds(100))
    }
  }

  // MARK: - Orders

  private func follow(
    _ order: String, _ writer: AuthorWriter, _ session: SyncSession, _ configuration: Realm.Configuration
  ) async throws {
    let words = order.split(separator: " ")
    let numbers = words.dropFirst().compactMap { Int($0) }
    switch (words.first, numbers.count) {
    case ("write", 2): writer.begin(pause: numbers[0], bytes: numbers[1])
    case ("stop", 0):
      await writer.stop()
      say("stopped \(writer.number)")
    case ("preload", 1):
      try writer.preload(numbers[0])
      say("preloaded")
    case ("settle", 0):
      try await session.wait(for: .upload)
      say("settled")
    case ("content", 0): try await tellContent(configuration)
    case ("suspend", 0):
      session.suspend()
      say("suspended")
    case ("resume", 0):
      session.resume()
      say("resumed")
    case ("ping", 0): say("pong")
    default: fail("A client takes no such order: \(order)")
    }
  }

  /// Writes the client's objects to a file when the client has all objects of the server.
  private func tellContent(_ configuration: Realm.Configuration) async throws {
    let realm = try await Realm(configuration: configuration, downloadBeforeOpen: .always)
    realm.refresh()
    let content = Content(of: realm)
    let file = URL(fileURLWithPath: options.files, isDirectory: true).appending(path: Content.file)
    try Data(content.text.utf8).write(to: file)
    say("content \(content.hash) \(content.countOfObjects)")
  }
}
