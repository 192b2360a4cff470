import Foundation
import RealmStorage
import RealmTestSupport

/// A process that follows orders. It reads one line for each order, and writes one line for each answer.
///
/// An answer is `ok` and numbers, or `error` and the name of the error's case.
final class Servant {
  enum Order: String {
    case open, close
    /// Takes a snapshot and keeps it. The answer is its version and the end of its file.
    case pin
    case release
    /// Verifies a new snapshot. The answer is its version and its fingerprint.
    case look
    /// Verifies the kept snapshot. The answer is its version and its fingerprint.
    case again
    case begin
    /// Makes the next change of slot 0 in the open transaction.
    case change
    case commit
    /// Makes the next change of slot 0 in a transaction of its own.
    case write
    /// Asks for the session of the file. The answer is 1 if the process has it now, else 0.
    case becomeAgent
    case resign
  }

  private let path: String
  private let isEncrypted: Bool
  private let alarm = Alarm()
  private var generator = SeededGenerator(seed: UInt64(getpid()))
  private var database: Database?
  private var snapshot: Snapshot?
  private var transaction: WriteTransaction?

  init(path: String, isEncrypted: Bool) {
    self.path = path
    self.isEncrypted = isEncrypted
  }

  func run() throws {
    alarm.start(patience: Run.patience)
    while let line = readLine() {
      guard let order = Order(rawValue: line) else { throw Violation("there is no order \(line)") }
      alarm.begin("servant \(getpid()), \(line)")
      defer { alarm.end() }
      do {
        let numbers = try follow(order)
        WorkerCommand.say((["ok"] + numbers.map { "\($0)" }).joined(separator: " "))
      } catch let error as StorageError {
        WorkerCommand.say("error \(error.name)")
      }
    }
  }

  private func follow(_ order: Order) throws -> [UInt64] {
    switch order {
    case .open: database = try Database(path: path, options: options(isEncrypted: isEncrypted))
    case .close:
      (snapshot, transaction) = (nil, nil)
      database?.close()
      database = nil
    case .pin:
      let snapshot = try opened().snapshot()
      self.snapshot = snapshot
      return [snapshot.version, snapshot.base.end]
    case .release: snapshot = nil
    case .look: return try Self.look(try opened().snapshot())
    case .again:
      guard let snapshot else { throw Violation("no snapshot is kept") }
      return try Self.look(snapshot)
    case .begin: transaction = try opened().beginWrite()
    case .change: try change()
    case .commit: return [try begun().commit(.full)]
    case .write:
      transaction = try opened().beginWrite()
      defer { transaction?.cancel() }
      try change()
      return [try begun().commit(.full)]
    case .becomeAgent: return [try opened().becomeSyncAgent() ? 1 : 0]
    case .resign: try opened().resignAsSyncAgent()
    }
    return []
  }

  static func look(_ snapshot: Snapshot) throws -> [UInt64] {
    _ = try Ledger.verify(snapshot)
    return [snapshot.version, try Ledger.fingerprint(snapshot)]
  }

  private func change() throws {
    let transaction = try begun()
    try Ledger.prepare(transaction)
    let count = try Ledger.count(of: 0, in: transaction)
    try Ledger.write(transaction, slot: 0, number: count + 1, size: .small, &generator)
  }

  private func opened() throws -> Database {
    guard let database else { throw Violation("the database is not open") }
    return database
  }

  private func begun() throws -> WriteTransaction {
    guard let transaction else { throw Violation("no transaction is open") }
    return transaction
  }
}

extension Child {
  /// The answer of a servant.
  enum Answer: Equatable {
    case done([UInt64])
    case refused(String)
  }

  func follow(_ order: Servant.Order) throws -> Answer {
    tell(order.rawValue)
    return try answer()
  }

  func answer() throws -> Answer {
    let words = try line().split(separator: " ").map(String.init)
    switch words.first {
    case "ok": return .done(words.dropFirst().compactMap(UInt64.init))
    case "error" where words.count == 2: return .refused(words[1])
    default: throw Violation("process \(process) answers: \(words)")
    }
  }

  /// Gives an order that must succeed. Returns the numbers of the answer.
  @discardableResult
  func succeed(_ order: Servant.Order) throws -> [UInt64] {
    guard case .done(let numbers) = try follow(order) else {
      throw Violation("process \(process) is refused: \(order)")
    }
    return numbers
  }

  func expect(_ error: String, at order: Servant.Order) throws {
    let answer = try follow(order)
    guard answer == .refused(error) else { throw Violation("\(order) answers \(answer) and not \(error)") }
  }
}
