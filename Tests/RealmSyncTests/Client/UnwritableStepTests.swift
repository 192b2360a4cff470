import RealmStorage
import RealmSync
import RealmSyncClient
import Testing

/// Steps whose content the engine can't write into a file.
@Suite struct UnwritableStepTests {
  @Test func `content that the engine can't write ends the session with an error and loses nothing`() throws {
    let file = try DrivenFile(changes: 0)
    try file.database.write { transaction in
      try transaction.setTime(file.time)
      // The table has as many columns as it may have. To keep a link to a missing object takes one more column.
      let numbers = (3...1000).map { Column("p\($0)", .int64) }
      let columns = [Column("id", .int64, index: .unique), Column("n", .link)] + numbers
      _ = try transaction.createTable(TableSchema("Wide", columns: columns))
      _ = try transaction.table("Wide")?.insert(["id": .int(1)])
    }
    try file.begin()
    let before = try (file.pending(), file.position())
    #expect(before.0.count == 1)
    func step(_ link: Int64) throws -> Step {
      var step = try file.step()
      let value = InstructionValue.link(ObjectName("Wide", .int(link)))
      step.objects = [
        ObjectStep(
          ObjectName("Wide", .int(2)), .whole([.create, .set(InstructionPath("n"), value, isDefault: false)]))
      ]
      return step
    }
    let actions = try file.receive(.step(step(3)))
    guard case .storage(.limitExceeded(.columns(1001, maximum: 1000), _))? = actions.problem else {
      Issue.record("\(actions)")
      return
    }
    #expect(try file.pending() == before.0)
    #expect(try file.position() == before.1)
    #expect(IntegrityCheck.run(try file.database.snapshot()).isClean)
    // The next session continues from there.
    file.session.disconnected()
    let sent = try file.begin().uploads
    #expect(sent.count == 1)
    let next = try step(1)
    #expect(try file.receive(.step(next)).first == .applied(version: next.to))
  }
}
