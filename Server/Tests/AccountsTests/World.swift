import Foundation
import Synchronization

@testable import Accounts

/// A folder with the accounts of an app, a clock that tests move, and a messenger that keeps its messages.
final class World: Sendable {
  let folder: URL
  let clock = TestClock()
  let messenger = RecordingMessenger()

  init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("accounts-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var file: URL { folder.appendingPathComponent("accounts.realm") }

  /// Opens the accounts, with options in which hashing a password costs little. The options keep this world in memory,
  /// and so do open accounts.
  func open(_ change: (inout Accounts.Options) -> Void = { _ in }) async throws -> Accounts {
    var options = Accounts.Options(app: "app-1", fileURL: file)
    options.messenger = messenger
    options.passwordCost = .least
    options.now = { self.clock.now }
    change(&options)
    return try await Accounts.open(options)
  }
}

final class TestClock: Sendable {
  private let date = Mutex(Date(timeIntervalSince1970: 1_800_000_000))

  var now: Date { date.withLock { $0 } }
  func advance(_ seconds: TimeInterval) { date.withLock { $0 = $0 + seconds } }
}

/// Keeps messages instead of delivering them.
final class RecordingMessenger: Messenger {
  struct Failure: Error {}

  private let messages = Mutex<[Message]>([])
  private let fails = Mutex(false)

  var all: [Message] { messages.withLock { $0 } }

  /// Sets whether deliveries fail from now on.
  func setFails(_ value: Bool) { fails.withLock { $0 = value } }

  func deliver(_ message: Message) async throws {
    if fails.withLock({ $0 }) { throw Failure() }
    messages.withLock { $0.append(message) }
  }

  func last(_ kind: Message.Kind) -> Message? { all.last { $0.kind == kind } }
}

/// Keeps the revocations that accounts announce.
final class RevocationList: Sendable {
  private let revocations = Mutex<[Revocation]>([])

  init(_ accounts: Accounts) {
    accounts.onRevocation { revocation in self.revocations.withLock { $0.append(revocation) } }
  }

  var all: [Revocation] { revocations.withLock { $0 } }
}

/// A value that several threads change.
final class Locked<Value: Sendable>: Sendable {
  private let value: Mutex<Value>

  init(_ value: Value) { self.value = Mutex(value) }

  func withLock<Answer: Sendable>(_ body: (inout Value) -> Answer) -> Answer {
    value.withLock { value in body(&value) }
  }
}

/// The error with which `work` was refused; nil if it succeeded or failed with another error.
func thrown<Answer>(_ work: () async throws -> Answer) async -> AccountError? {
  do {
    _ = try await work()
    return nil
  } catch {
    return error as? AccountError
  }
}

/// The code of the error with which `work` was refused.
func refusal<Answer>(_ work: () async throws -> Answer) async -> AccountError.Code? {
  await thrown(work)?.code
}

extension Accounts {
  static let testAddress = "192.0.2.1"

  /// Logs in with an e-mail address and a password.
  func logIn(
    _ email: String, _ password: String, from address: String = Accounts.testAddress,
    linkTo access: Access? = nil
  ) async throws -> LogIn {
    try await logIn(.emailPassword(email: email, password: password), address: address, linkTo: access)
  }

  func logInAnonymously() async throws -> LogIn {
    try await logIn(.anonymous, address: Accounts.testAddress)
  }

  /// Registers a user, and confirms the address.
  @discardableResult
  func registerConfirmed(_ email: String, _ password: String) async throws -> String {
    let id = try await register(email: email, password: password, address: Accounts.testAddress)
    if try await !user(id).isConfirmed { try await confirmUser(id) }
    return id
  }
}

/// The parts of a token, of which there are three.
func parts(of token: String) -> [String] { token.split(separator: ".").map { String($0) } }

/// The JSON object in a part of a token.
func object(in part: String) throws -> [String: Any] {
  let bytes = Base64URL.bytes(of: part[...]) ?? []
  return try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] ?? [:]
}

/// The part of a token for a JSON text.
func part(_ json: String) -> String { Base64URL.text(of: Array(json.utf8)) }

/// The same text with another last character. A reader that ignores the unused bits of that character gets the same
/// bytes.
func sloppy(_ base64: String) -> String {
  let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
  guard let last = base64.last, let place = alphabet.firstIndex(of: last), place < 63 else { return base64 }
  return String(base64.dropLast()) + String(alphabet[place + 1])
}
