import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport
import Testing

/// Real clients with a real server, in cases that must not stop or loop.
@Suite struct RealClientTests {
  @Test func `a file with more pending changes than may be under way gets its newest query set`() throws {
    var limits = ServerLimits()
    limits.messages.bytesUnderWay = 200
    let driven = try DrivenServer(limits)
    let file = try ConnectedFile(driven, "anna")
    #expect(try file.ask("") == 1)
    for key in 1...10 as ClosedRange<Int64> { try file.write(key) }
    #expect(try file.ask("q == nil") == 2)
    #expect(try file.pending() == 10)
    try file.connect()
    try file.exchange()
    #expect(file.errors.isEmpty && file.isConnected)
    #expect(try file.pending() == 0)
    #expect(try file.position().querySet == 2)
    #expect(try driven.state.lastSequence(of: file.number()) == 10)
    #expect(try file.refusals() == [] && file.keys() == Array(1...10))
    #expect(try driven.database.modelKeys() == Array(1...10))
  }

  // MARK: - Partitions

  @Test func `a change that a file with a partition makes before its first step is not refused`() throws {
    let driven = try DrivenServer()
    let file = try ConnectedFile(driven, "anna", partition: .int(1))
    try file.write(1, .int(1))
    try file.connect()
    try file.talk()
    // The file is registered, and has had no step.
    #expect(try file.number() != .max && !file.told.contains("applied"))
    try file.write(2, .int(1))
    try file.exchange()
    #expect(try file.refusals() == [] && file.pending() == 0)
    #expect(try file.keys() == [1, 2])
    #expect(try driven.database.modelKeys() == [1, 2])
  }

  @Test func `a changeset without a query set counts in a partition as written with the first set`() throws {
    let driven = try DrivenServer()
    let client = driven.client("anna", partition: .int(1))
    try driven.exchange(client.hello, client.id)
    try client.sendStart()
    try client.upload(.creation(1, 1), querySet: 0)
    try driven.run()
    #expect(client.own.map(\.refusals) == [[]])
    #expect(try driven.database.modelKeys() == [1])
    // After the first step such a changeset counts in the same way.
    try client.upload(.creation(2, 1), querySet: 0)
    try driven.run()
    #expect(client.own.map(\.refusals) == [[], []] && !client.isClosed)
    // A client without a partition sees none of the objects.
    let other = driven.client("ben")
    try other.begin()
    try other.upload(.creation(3, 1), querySet: 0)
    try driven.run()
    #expect(other.own.first?.refusals.map(\.reason) == [.outsideQuerySet])
  }

  /// Makes an object of a class without the property of the partition. The first call also makes the class.
  private static func writeNote(_ key: Int64, _ file: ConnectedFile, time: UInt64) throws {
    try file.database.write { transaction in
      try transaction.setTime(time)
      if try transaction.table("Note") == nil {
        _ = try transaction.createTable(
          TableSchema("Note", columns: [Column("id", .int64, index: .unique)]))
      }
      _ = try transaction.table("Note")?.insert(["id": .int(key)])
    }
  }

  private static func notes(_ database: Database) throws -> [Int64] {
    guard let table = try database.snapshot().table("Note") else { return [] }
    var rows: [UInt64] = []
    try table.forEach { row, _ in
      rows.append(row)
      return true
    }
    var keys: [Int64] = []
    for row in rows {
      if case .int(let key)? = try table.value(table.schema.columns[0], ofRow: row) { keys.append(key) }
    }
    return keys.sorted()
  }

  @Test func `the null partition does not set the type of the partition's property`() throws {
    let driven = try DrivenServer()
    func type() throws -> ColumnType? {
      try driven.database.snapshot().table("Note")?.schema.columns.first { $0.name == "q" }?.type
    }
    let none = try ConnectedFile(driven, "anna", partition: .null)
    try Self.writeNote(1, none, time: driven.time)
    try none.connect()
    try none.exchange()
    #expect(try none.refusals() == [] && none.pending() == 0)
    #expect(try Self.notes(driven.database) == [1] && type() == nil)
    let first = try ConnectedFile(driven, "anna", partition: .int(1))
    try Self.writeNote(2, first, time: driven.time)
    try first.connect()
    try first.exchange()
    #expect(try first.refusals() == [] && type() == .int64)
    try Self.writeNote(3, none, time: driven.time)
    try none.exchange()
    #expect(try none.refusals() == [] && none.pending() == 0)
    #expect(try Self.notes(driven.database) == [1, 2, 3])
    #expect(try Self.notes(none.database) == [1, 3])
    #expect(try Self.notes(first.database) == [2])
    // A new file of the null partition sees the objects that the others wrote there.
    let late = try ConnectedFile(driven, "anna", partition: .null)
    try late.connect()
    try late.exchange()
    #expect(try Self.notes(late.database) == [1, 3])
    #expect(IntegrityCheck.run(try driven.database.snapshot()).isClean)
  }

  // MARK: - Partitions that became filters

  /// A file that was in the partition 1, was made flexible and was then reset, and a client that wrote one object in
  /// the partition and one outside of it.
  private static func resetFlexible() throws -> (DrivenServer, writer: DrivenClient, ConnectedFile) {
    let driven = try DrivenServer()
    let writer = try driven.running("writer")
    try writer.upload(.creation(1, 1))
    try writer.upload(.creation(2, 2))
    try driven.run()
    let file = try ConnectedFile(driven, "anna", partition: .int(1))
    try file.connect()
    try file.exchange()
    #expect(try file.keys() == [1])
    let old = try file.number()
    try driven.append(.flexible(replica: old))
    try file.exchange()
    #expect(try file.position().flexibleFrom != nil)
    try driven.append(.retire(replica: old))
    try file.exchange()
    #expect(file.errors == [12] && !file.isConnected)
    try file.connect()
    try file.exchange()
    #expect(try file.number() != old)
    return (driven, writer, file)
  }

  @Test func `a file whose partition became a filter keeps the filter in a reset, and gets a step`() throws {
    let (driven, writer, file) = try Self.resetFlexible()
    #expect(file.told.contains("did reset"), "no step came: \(file.told)")
    let condition = FieldFilter.Condition("q", .equal, [.value(.int(1))])
    let view = try driven.state.view(of: file.number(), querySet: 1)
    #expect(view.querySet == ClassFilters(others: FieldFilter(terms: [[condition]])))
    #expect(view.asking.partition == nil)
    let position = try file.position()
    #expect(position.querySet == 1 && position.partition == nil)
    #expect(try file.keys() == [1])
    try writer.upload(.creation(3, 2))
    try writer.upload(.creation(4, 1))
    try file.exchange()
    #expect(try file.keys() == [1, 4])
    try file.write(5, .int(1))
    try file.exchange()
    #expect(try file.refusals() == [] && driven.database.modelKeys() == [1, 2, 3, 4, 5])
  }

  @Test func `a file whose partition became a filter connects again after a reset`() throws {
    let (driven, _, file) = try Self.resetFlexible()
    let number = try file.number()
    try file.connect()
    try file.exchange()
    #expect(file.isConnected && file.errors == [12])
    #expect(try file.number() == number)
    try file.write(6, .int(1))
    try file.exchange()
    #expect(try driven.database.modelKeys() == [1, 2, 6])
  }
}
