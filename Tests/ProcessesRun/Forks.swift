import Foundation
import RealmStorage
import RealmTestSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Processes fork while they have a file open. The child reads the snapshots that it inherited, and everything else is
/// refused. The parent goes on, and its lock and its pins are unchanged.
struct Forks {
  let part: Part

  func run() throws {
    for number in 0..<(part.isQuick ? 8 : 80) { try run(.fork, number) }
    for number in 0..<(part.isQuick ? 8 : 80) { try run(.forkObjects, number) }
  }

  private func run(_ role: Role, _ number: Int) throws {
    try withScene(isEncrypted: number & 4 != 0) { scene in
      try part.state("\(role) \(number)") {
        let child = try scene.spawn(role, seed: UInt64(number))
        guard try child.line() == "done" else { throw Violation("the parent does not come to its end") }
        try child.finish()
      }
    }
  }
}

/// The process that forks. It has no other threads of its own, because after a fork the child has only the thread that
/// called it.
struct Forker {
  let path: String
  let isEncrypted: Bool
  /// If bit 0 is set, the process forks while a transaction is open. If bit 1 is set, the child closes the database and
  /// calls `exit`, which also runs the exit handlers.
  let seed: UInt64

  func run() throws {
    alarm(CUnsignedInt(Run.patience / 2))
    let database = try Database(path: path, options: options(isEncrypted: isEncrypted))
    var writer = LedgerWriter(database: database, seed: seed)
    for _ in 0..<20 { try writer.commit() }
    let snapshot = try database.snapshot()
    let known = try Ledger.fingerprint(snapshot)
    for _ in 0..<20 { try writer.commit() }

    let transaction = seed & 1 != 0 ? try database.beginWrite() : nil
    if let transaction { try writer.change(transaction) }
    let signal = try Child.makePipe()
    let child = try Self.fork()
    if child == 0 { inChild(database, snapshot, known, signal) }
    close(signal.read)
    if let transaction { try writer.end(transaction) }
    for _ in 0..<100 { try writer.commit() }
    // While the child checks its snapshot, the snapshot lies in pages that the parent would reuse without its pin.
    close(signal.write)
    for _ in 0..<100 { try writer.commit() }
    let status = Child.end(of: child)
    guard status == 0 else { throw Violation("the forked child: \(Child.describe(status))") }

    for _ in 0..<100 { try writer.commit() }
    guard try Ledger.fingerprint(snapshot) == known else {
      throw Violation("a snapshot of the parent changed")
    }
    let pin = Pin(version: snapshot.version, process: getpid())
    guard try database.pins().contains(pin) else {
      throw Violation("the parent's pin is gone with the child")
    }
    try holdLock(database, &writer)
    WorkerCommand.say("done")
  }

  private func inChild(
    _ database: Database, _ snapshot: Snapshot, _ known: UInt64, _ signal: (read: CInt, write: CInt)
  ) -> Never {
    alarm(CUnsignedInt(Run.patience / 2))
    close(signal.write)
    do {
      guard try Ledger.fingerprint(snapshot) == known else {
        throw Violation("an inherited snapshot changed")
      }
      try Self.expectForked("a snapshot") { _ = try database.snapshot() }
      try Self.expectForked("a transaction") { _ = try database.beginWrite() }
      // The call returns when the parent closes its end.
      var byte: UInt8 = 0
      while read(signal.read, &byte, 1) < 0, errno == EINTR {}
      for _ in 0..<20 where try Ledger.fingerprint(snapshot) != known {
        throw Violation("an inherited snapshot changed while the parent wrote")
      }
      _ = try Ledger.verify(snapshot)
    } catch {
      WorkerCommand.fail("forked \(getpid()): \((error as? Violation)?.what ?? "\(error)")")
    }
    guard seed & 2 != 0 else { _exit(0) }
    database.close()
    exit(0)
  }

  private static func expectForked(_ what: String, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as StorageError {
      guard error.name == ErrorName.forked else { throw Violation("\(what) of a forked child: \(error)") }
      return
    }
    throw Violation("a forked child is given \(what)")
  }

  /// Checks that another process waits while our transaction is open, and builds on our commit.
  private func holdLock(_ database: Database, _ writer: inout LedgerWriter) throws {
    let other = try Scene(path: path, isEncrypted: isEncrypted).spawn(.obey)
    try other.succeed(.open)
    let transaction = try database.beginWrite()
    other.tell(Servant.Order.write.rawValue)
    guard !other.speaks(within: 100) else { throw Violation("two processes write at once") }
    try writer.change(transaction)
    let version = try writer.end(transaction)
    guard case .done(let answer) = try other.answer(), answer[0] > version else {
      throw Violation("the other process does not build on version \(version)")
    }
    guard try Ledger.verify(database.snapshot())[0] == writer.count + 1 else {
      throw Violation("a commit of another process is missing")
    }
    try other.succeed(.close)
  }

  // MARK: - Forking

  /// Swift does not offer this call, because a child of a process with threads can do very little safely.
  static func fork() throws -> pid_t {
    guard let address = dlsym(dlopen(nil, RTLD_NOW), "fork") else { throw Violation("there is no fork") }
    let call = unsafeBitCast(address, to: (@convention(c) () -> pid_t).self)
    let process = call()
    guard process >= 0 else { throw Violation("can't fork: error \(errno)") }
    return process
  }
}

/// Commits to slot 0 from one thread.
private struct LedgerWriter {
  let database: Database
  private(set) var count = 0
  private var generator: SeededGenerator

  init(database: Database, seed: UInt64) {
    self.database = database
    generator = SeededGenerator(seed: seed)
  }

  mutating func change(_ transaction: WriteTransaction) throws {
    try Ledger.prepare(transaction)
    try Ledger.write(transaction, slot: 0, number: count + 1, size: .small, &generator)
  }

  @discardableResult
  mutating func end(_ transaction: WriteTransaction) throws -> UInt64 {
    let version = try transaction.commit(.relaxed)
    count += 1
    return version
  }

  mutating func commit() throws {
    let transaction = try database.beginWrite()
    try change(transaction)
    try end(transaction)
  }
}
