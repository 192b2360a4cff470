import RealmServer
import RealmStorage
import RealmSync
import RealmSyncSupport
import RealmTestSupport
import Testing

/// The records that the server keeps of adds to a number, for values that arrive late.
@Suite struct AddRecordTests {
  private static let number = InstructionPath("c")

  /// A server's file with an object whose number clients add to. A log of changesets follows.
  private final class World {
    let database: Database
    private var versions: UInt64 = 3
    private var last: [UInt64: (sequence: UInt64, hash: [UInt8])] = [:]

    init() throws {
      database = try Database(inMemory: "server")
      try change { transaction, state in
        try ModelClass.make(transaction)
        for replica in [5, 6] as [UInt64] {
          let registration = Registration(replica: replica, user: "anna")
          try state.integrate(
            LogRecord(tag: 1, time: 1000, .register(registration)), in: transaction)
          try state.integrate(
            LogRecord(tag: 2, time: 1000, .querySet(replica: replica, number: 1, .everything)),
            in: transaction)
        }
      }
      let zero = Instruction.set(AddRecordTests.number, .value(.int(0)), isDefault: true)
      try upload(.one(1, [.create, zero]), of: 5, at: 1000)
    }

    private func change(_ body: (WriteTransaction, ServerState) throws -> Void) throws {
      let transaction = try database.beginWrite()
      let state = try ServerState(transaction, settings: ModelClass.settings)
      try body(transaction, state)
      try transaction.commit()
    }

    /// Integrates a changeset of a replica that has seen no changes of others.
    func upload(_ changeset: Changeset, of replica: UInt64, at milliseconds: UInt64) throws {
      try change { transaction, state in
        let before = last[replica] ?? (0, [])
        versions += 1
        let hash = "\(versions)".utf8.map(\.self).contentHash
        let upload = Upload(
          replica: replica, user: "anna", sequence: before.sequence + 1, previous: before.hash, hash: hash,
          base: replica == 5 ? state.version : 1, stamp: Stamp(milliseconds: milliseconds), querySets: [1],
          replicas: [0, replica], changeset: changeset)
        let entry = try state.integrate(
          LogRecord(tag: 3, time: milliseconds, .upload(upload)), in: transaction)
        #expect(entry?.refusals.isEmpty == true)
        last[replica] = (before.sequence + 1, hash)
      }
    }

    func add(_ delta: Int64, at milliseconds: UInt64) throws {
      try upload(.one(1, [.add(AddRecordTests.number, delta)]), of: 5, at: milliseconds)
    }

    var value: Value? {
      get throws {
        let table = try #require(try database.snapshot().table(ModelClass.name))
        let row = try #require(try table.row(withPrimaryKey: .int(1)))
        return try table.value(#require(table.schema.column("c")), ofRow: row)
      }
    }

    var records: [(key: [UInt8], value: [UInt8])] {
      get throws {
        var found: [(key: [UInt8], value: [UInt8])] = []
        try database.snapshot().tree(MergeRecords.treeName).forEach { key, value in
          found.append((key, value))
          return true
        }
        return found
      }
    }

    /// Records adds in the form of earlier versions of the library, which kept all adds to a number in one value.
    func joinAdds() throws {
      let adds = try records.filter { $0.key.count > 21 && $0.key[$0.key.count - 21] == 23 }
      try change { transaction, _ in
        let tree = try transaction.tree(MergeRecords.treeName)
        var joined: [UInt8] = []
        for (key, value) in adds {
          func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
          let decision = key.suffix(20)
          joined.appendInteger(number(decision.prefix(8)))
          joined.appendVarint(number(decision.suffix(8)))
          joined.appendVarint(2 * number(decision.dropFirst(8).prefix(4)))
          joined += value
          try tree.removeValue(for: key)
        }
        try tree.set(joined, for: Array(try #require(adds.first).key.dropLast(21)) + [18])
      }
    }
  }

  @Test func `a record of a number does not grow with the number of adds`() throws {
    let world = try World()
    for number in 1...500 as ClosedRange<UInt64> { try world.add(1, at: 1000 + number) }
    let value = try world.value
    #expect(value == .int(500))
    let records = try world.records
    #expect(records.count > 500)
    #expect(records.allSatisfy { $0.value.count < 200 })
  }

  @Test(arguments: [false, true])
  func `a value that arrives late gets the later adds added to it, and no others`(areJoined: Bool) throws {
    let world = try World()
    for number in 1...20 as ClosedRange<UInt64> { try world.add(Int64(number), at: 1000 + 10 * number) }
    if areJoined { try world.joinAdds() }
    // The value is later than the tenth add, and earlier than the eleventh.
    try world.upload(
      .one(1, [.set(Self.number, .value(.int(1000)), isDefault: false)]), of: 6, at: 1105)
    #expect(try world.value == .int(1000 + (11...20).reduce(0, +)))
    // A value that is later still finds the adds behind it, and a value that is earlier does nothing.
    try world.upload(
      .one(1, [.set(Self.number, .value(.int(2000)), isDefault: false)]), of: 6, at: 1155)
    #expect(try world.value == .int(2000 + (16...20).reduce(0, +)))
    try world.add(7, at: 1300)
    #expect(try world.value == .int(2007 + (16...20).reduce(0, +)))
    let adds = try world.records.filter { $0.key.count > 21 && $0.key[$0.key.count - 21] == 23 }
    #expect(adds.count == (areJoined ? 1 : 6))
  }
}
