import Foundation
@_spi(Testing) import RealmSwift
import RealmTestSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// An object of the process that forks.
final class Note: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text: String
  @Persisted var next: Note?
  @Persisted var numbers: List<Int>
}

/// The process that forks while it has a realm open. The child reads the objects that it inherited, is refused
/// everything else, and is stopped for a programmer's error like any process.
struct ObjectForker {
  let path: String
  let isEncrypted: Bool
  /// If bit 0 is set, the process forks while a write transaction is open. If bit 1 is set too, the child tries to
  /// commit that transaction.
  let seed: UInt64

  private static let count = 200
  /// The exit status of a child that was stopped or refused where it should be.
  private static let stopped: CInt = 42

  private var configuration: Realm.Configuration {
    Realm.Configuration(
      fileURL: URL(fileURLWithPath: path), encryptionKey: isEncrypted ? Data(Keys.first) : nil,
      objectTypes: [Note.self])
  }

  func run() throws {
    alarm(CUnsignedInt(Run.patience / 2))
    let realm = try Realm(configuration: configuration)
    try realm.write {
      var last: Note?
      for id in 0..<Self.count {
        let note = Note()
        (note.id, note.text, note.next) = (id, Self.text(id, round: 0), last)
        note.numbers.append(objectsIn: 0..<id % 7)
        realm.add(note)
        last = note
      }
    }
    let isWriting = seed & 1 != 0
    if isWriting {
      realm.beginWrite()
      change(realm, round: 1)
    }
    let round = isWriting ? 1 : 0
    try check(realm, round: round)

    let signal = try Child.makePipe()
    let child = try Forker.fork()
    if child == 0 { inChild(realm, round, signal) }
    close(signal.read)
    if isWriting { try realm.commitWrite() }
    for round in 2..<30 { try realm.write { change(realm, round: round) } }
    // While the child checks its objects, they lie in pages that the parent would reuse without its pins.
    close(signal.write)
    for round in 30..<60 { try realm.write { change(realm, round: round) } }
    let status = Child.end(of: child)
    guard status >> 8 & 0xff == Self.stopped else {
      throw Violation("the forked child: \(Child.describe(status))")
    }
    try check(realm, round: 59)
    WorkerCommand.say("done")
  }

  private func inChild(_ realm: Realm, _ round: Int, _ signal: (read: CInt, write: CInt)) -> Never {
    alarm(CUnsignedInt(Run.patience / 2))
    close(signal.write)
    do {
      try check(realm, round: round)
      var byte: UInt8 = 0
      while read(signal.read, &byte, 1) < 0, errno == EINTR {}
      if !realm.isInWriteTransaction {
        for _ in 0..<20 { try check(realm, round: round) }
        try Self.expectRefusal("a transaction") { try realm.write {} }
      } else if seed & 2 != 0 {
        try Self.expectRefusal("a commit") { try realm.commitWrite() }
        _exit(Self.stopped)
      }
    } catch {
      WorkerCommand.fail("forked \(getpid()): \((error as? Violation)?.what ?? "\(error)")")
    }
    let expected =
      realm.isInWriteTransaction ? "Primary key of a managed object" : "Not in a write transaction"
    _setProgrammerErrorHandler { name, reason in
      if name == expected { _exit(Self.stopped) }
      WorkerCommand.fail("forked \(getpid()): \(name): \(reason)")
    }
    realm.object(ofType: Note.self, forPrimaryKey: 0)?.id = Self.count
    WorkerCommand.fail("forked \(getpid()): a programmer's error goes on")
  }

  private static func text(_ id: Int, round: Int) -> String { "note \(id) of round \(round)" }

  private func change(_ realm: Realm, round: Int) {
    for note in realm.objects(Note.self) { note.text = Self.text(note.id, round: round) }
  }

  /// Checks all notes by iterating, by links, by keys and by a query.
  private func check(_ realm: Realm, round: Int) throws {
    let notes = realm.objects(Note.self)
    var seen = 0
    for note in notes {
      seen += 1
      guard note.text == Self.text(note.id, round: round), note.next?.id ?? -1 == note.id - 1,
        Array(note.numbers) == Array(0..<note.id % 7)
      else { throw Violation("note \(note.id) is another than in round \(round): \(note)") }
    }
    let found = realm.object(ofType: Note.self, forPrimaryKey: 7)
    let last = Self.text(Self.count - 1, round: round)
    guard seen == Self.count, notes.count == Self.count, found?.text == Self.text(7, round: round),
      notes.where({ $0.text == last }).count == 1
    else { throw Violation("notes are missing in round \(round)") }
  }

  private static func expectRefusal(_ what: String, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch is Realm.Error {
      return
    }
    throw Violation("a forked child is given \(what)")
  }
}
