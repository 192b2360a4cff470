import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Changesets that one synced file recorded are applied to another file, and undone.
@Suite struct RecordedChangesetTests {
  private static func synced(_ path: String, key: [UInt8]?, clusterRows: Int) throws -> Database {
    var options = DatabaseOptions(encryptionKey: key)
    options.history = .synced
    options.clusterRows = clusterRows
    return try Database(path: path, options: options)
  }

  private final class Pair {
    let first: Database
    let other: Database
    private var sequence: UInt64 = 1
    private(set) var instructions = 0

    init(_ first: Database, _ other: Database) { (self.first, self.other) = (first, other) }

    /// Applies the changesets recorded since the last call to the other database. Returns how the two databases differ
    /// then.
    func follow(makingTables make: ((WriteTransaction) throws -> Void)? = nil) throws -> String? {
      let snapshot = try first.snapshot()
      let changelog = try #require(try snapshot.changelog())
      var found: [StoredChangeset] = []
      try changelog.forEach(from: sequence, snapshot) {
        found.append($0)
        return true
      }
      sequence = changelog.state.nextSequence
      try other.write { transaction in
        try make?(transaction)
        for stored in found {
          let changeset = try Changeset(bytes: stored.bytes)
          instructions += changeset.objects.reduce(0) { $0 + $1.instructions.count }
          try transaction.apply(changeset.objects)
        }
      }
      for stored in found {
        for object in try Changeset(bytes: stored.bytes).objects {
          guard let id = try snapshot.schemas().first(where: { $0.name == object.id.table })?.id else {
            return "no table \(object.id.table)"
          }
          let sequences = try changelog.search(snapshot).sequences(of: object.id, table: id)
          guard sequences.contains(stored.sequence) else { return "\(object.id) is not found by its key" }
        }
      }
      return try NamedContent(snapshot)
        .difference(to: NamedContent(other.snapshot()))
    }

    /// Undoes the newest changesets down to `sequence` in a transaction, which is then cancelled. Returns how the
    /// content after the undo differs from `before`.
    func undo(to sequence: UInt64, before: NamedContent) throws -> String? {
      let snapshot = try first.snapshot()
      let changelog = try #require(try snapshot.changelog())
      let transaction = try first.beginWrite()
      defer { transaction.cancel() }
      for sequence in (sequence..<changelog.state.nextSequence).reversed() {
        try transaction.undo(try #require(try changelog.changeset(sequence, snapshot)))
      }
      return try before.difference(to: NamedContent(transaction))
    }

    var next: UInt64 { get throws { try first.snapshot().changelog()?.state.nextSequence ?? 0 } }
  }

  private static func run(
    _ seed: UInt64, key: [UInt8]?, rounds: Int, make: @escaping (WriteTransaction) throws -> Void,
    change: (WriteTransaction, inout SeededGenerator) throws -> Void
  ) throws {
    try withTemporaryPath { path in
      let rows = seed % 3 == 0 ? 8 : 512
      let pair = Pair(
        try synced(path, key: key, clusterRows: rows), try synced(path + "2", key: key, clusterRows: rows))
      var generator = SeededGenerator(seed: seed)
      var versions: [(sequence: UInt64, content: NamedContent)] = []
      for round in 0..<rounds {
        if round > 0 { versions.append((try pair.next, try NamedContent(pair.first.snapshot()))) }
        try pair.first.write { transaction in
          if round == 0 { try make(transaction) }
          try change(transaction, &generator)
        }
        let context = "seed \(seed), transaction \(round)"
        let wrong = try pair.follow(makingTables: round == 0 ? make : nil)
        #expect(wrong == nil, "\(context): applied")
        let check = IntegrityCheck.run(try pair.other.snapshot())
        #expect(check.isClean, "\(context): \(check.findings)")
        if wrong != nil || !check.isClean { return }
        for (sequence, content) in versions.suffix(2) {
          let wrong = try pair.undo(to: sequence, before: content)
          #expect(wrong == nil, "\(context): undone")
          if wrong != nil { return }
        }
      }
      #expect(pair.instructions > 0)
    }
  }

  @Test(arguments: [false, true])
  func `changes of columns of every kind are recorded, applied elsewhere and undone`(
    isEncrypted: Bool
  ) throws {
    for seed in Slow.seeds(2, slow: 60) {
      var model = TableModel(keepsKeys: true)
      try Self.run(seed, key: isEncrypted ? Keys.first : nil, rounds: 14) { transaction in
        try transaction.createTable(TableSchema(TableModel.name, columns: TableModel.everything))
      } change: { transaction, generator in
        let table = try #require(try transaction.table(TableModel.name))
        for _ in 0..<generator.below(40) {
          #expect(try model.change(table, &generator) == nil, "seed \(seed)")
        }
      }
    }
  }

  @Test(arguments: [false, true])
  func `changes of objects with links and embedded objects are recorded, applied elsewhere and undone`(
    isEncrypted: Bool
  ) throws {
    for seed in Slow.seeds(5, slow: 300) {
      try Self.run(seed, key: isEncrypted ? Keys.first : nil, rounds: 20, make: Family.make) {
        transaction, generator in
        let family = try Family(transaction, keepsKeys: true)
        for _ in 0..<generator.below(25) { try family.change(&generator) }
      }
    }
  }
}
