import Foundation
import RealmSwift
import Testing

/// The former names of the log. Calls through this protocol make no warnings of the compiler.
private protocol FormerLog {
  func level(_ manager: SyncManager) -> SyncLogLevel
  func set(_ level: SyncLogLevel, _ manager: SyncManager)
  func set(_ logger: @escaping @Sendable (SyncLogLevel, String) -> Void, _ manager: SyncManager)
}

private struct ManagersLog: FormerLog {
  @available(*, deprecated)
  func level(_ manager: SyncManager) -> SyncLogLevel { manager.logLevel }

  @available(*, deprecated)
  func set(_ level: SyncLogLevel, _ manager: SyncManager) { manager.logLevel = level }

  @available(*, deprecated)
  func set(_ logger: @escaping @Sendable (SyncLogLevel, String) -> Void, _ manager: SyncManager) {
    manager.logger = logger
  }
}

/// The messages to `Logger.shared`, which the whole process shares. Other tests run at the same time, and their realms
/// log to it too.
@Suite(.serialized, .timeLimit(.minutes(3))) @MainActor struct LogTests {
  /// Runs `body` while all lines of a level are kept.
  private func logging(
    _ level: LogLevel, _ body: @MainActor (Calls<String>) async throws -> Void
  ) async throws {
    let (before, lines) = (Logger.shared, Calls<String>())
    Logger.shared = Logger(level: level) { _, text in lines.add(text) }
    defer { Logger.shared = before }
    try await body(lines)
  }

  private static let privateText = "a text that nobody else is to read"
  private static let password = "a password that nobody else knows"

  /// Logs in, and syncs in both directions.
  ///
  /// - Returns: The texts that no line may contain.
  private func useAll(_ world: SyncWorld) async throws -> [String] {
    let user = try await world.registered("somebody@example.org", password: Self.password)
    let other = try await world.user()
    var secrets = [user, other].flatMap { [$0.accessToken, $0.refreshToken] }.compactMap { $0 }
    let realm = try await opened(user.notes(), .always)
    try realm.write { realm.add(Note(1, Self.privateText)) }
    try await realm.upload()
    let second = try await opened(other.notes(), .always)
    try second.write { second.note(1)?.text += "!" }
    try await second.upload()
    try await realm.download()
    try realm.sync().suspend()
    try realm.sync().resume()
    try await user.refreshCustomData()
    try await realm.download()
    secrets += [user.accessToken, user.refreshToken].compactMap { $0 }
    // These are also the parts of a token, because a line may have less than the whole token.
    let parts = secrets.flatMap { $0.split(separator: ".").map(String.init) }.filter { $0.count > 40 }
    return secrets + parts + [Self.privateText, Self.password]
  }

  @Test(arguments: [LogLevel.info, .debug, .all])
  func `lines of a level describe sessions, and never contain tokens, passwords or values`(
    _ level: LogLevel
  ) async throws {
    try await logging(level) { lines in
      try await withWorld { world in
        let secrets = try await useAll(world)
        #expect(secrets.count > 6)
        for secret in Set(secrets) {
          #expect(!lines.all.contains { $0.contains(secret) }, "\(secret.prefix(8))…")
        }
        let folder = world.root.lastPathComponent
        #expect(lines.all.contains { $0.contains(folder) }, "\(lines.all.prefix(20))")
      }
    }
  }

  @Test func `nothing is logged if the level is off`() async throws {
    try await logging(.off) { lines in
      try await withWorld { world in
        _ = try await useAll(world)
        #expect(lines.count == 0)
      }
    }
  }

  @Test func `the level and the logger of an app's manager belong to the shared logger`() async throws {
    try await logging(.error) { lines in
      try await withWorld { world in
        let (former, manager) = (ManagersLog() as any FormerLog, world.app().syncManager)
        #expect(former.level(manager) == .error)
        former.set(.debug, manager)
        #expect(former.level(manager) == .debug && Logger.shared.level == .debug)
        let told = Calls<SyncLogLevel>()
        former.set({ level, _ in told.add(level) }, manager)
        let user = try await world.user()
        let realm = try await opened(user.notes(), .once)
        try realm.write { realm.add(Note(1)) }
        try await realm.upload()
        #expect(told.all.contains(.debug))
        #expect(told.all.allSatisfy { $0.rawValue <= SyncLogLevel.debug.rawValue })
      }
    }
  }
}
