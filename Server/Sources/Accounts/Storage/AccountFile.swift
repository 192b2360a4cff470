import Dispatch
import Foundation
import RealmSwift

/// The realm file of accounts. It belongs to one serial queue. Objects never leave that queue; values do.
final class AccountFile: Sendable {
  private let configuration: Realm.Configuration
  private let queue = DispatchQueue(label: "realm-server.accounts")
  /// Copies are made here, so that nobody waits for them.
  private let copying = DispatchQueue(label: "realm-server.accounts.copy")
  /// The open realm; nil before it is opened and after it was closed. Only code on `queue` uses it.
  private nonisolated(unsafe) var realm: Realm?

  /// Makes the file if it does not exist.
  ///
  /// - Parameter key: 64 bytes; nil for a file that is not encrypted.
  init(_ url: URL, encryptionKey key: Data?) throws {
    configuration = Realm.Configuration(
      fileURL: url, encryptionKey: key, schemaVersion: 1,
      objectTypes: [
        StoredUser.self, StoredIdentity.self, StoredSession.self, StoredMessageToken.self, StoredAPIKey.self,
        StoredSigningKey.self,
      ])
    try PrivateFile.make(at: url.path)
  }

  /// - Throws: `Realm.Error`.
  func open() async throws {
    try await Self.run(on: queue) {
      self.realm = try Realm(configuration: self.configuration, queue: self.queue)
    }
  }

  func close() async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      queue.async {
        self.realm = nil
        continuation.resume()
      }
    }
  }

  /// Calls `body` on the file's queue with the newest stored records.
  ///
  /// - Throws: the errors of `body`; `AccountError.Code.serviceUnavailable` if the file is closed.
  func perform<Answer: Sendable>(
    _ body: @escaping @Sendable (Records) throws -> Answer
  ) async throws -> Answer {
    try await Self.run(on: queue) {
      guard let realm = self.realm else {
        throw AccountError(.serviceUnavailable, "The server is shutting down. Try again in a minute.")
      }
      realm.refresh()
      return try body(Records(realm: realm))
    }
  }

  /// Writes a copy with the same key.
  ///
  /// - Throws: `Realm.Error`; `AccountError`.
  func backup(to url: URL) async throws {
    try await Self.run(on: copying) {
      let realm = try Realm(configuration: self.configuration, queue: self.copying)
      try realm.writeCopy(toFile: url, encryptionKey: self.configuration.encryptionKey)
      try PrivateFile.restrict(url.path)
    }
  }

  private static func run<Answer: Sendable>(
    on queue: DispatchQueue, _ body: @escaping @Sendable () throws -> Answer
  ) async throws -> Answer {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Answer, any Error>) in
      queue.async { continuation.resume(with: Result { try body() }) }
    }
  }
}
