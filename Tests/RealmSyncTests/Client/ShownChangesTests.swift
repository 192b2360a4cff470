import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import Testing

/// The objects that a file shows if it has pending changes and others have changed the same objects.
@Suite struct ShownChangesTests {
  /// A step with a change that another replica made to the object 1.
  private static func step(
    _ file: DrivenFile, _ instruction: Instruction, _ stamp: Stamp
  ) throws -> ServerMessage {
    var step = try file.step()
    (step.replicas, step.mark) = ([0, 90], stamp)
    let decided = DecidedBy(version: step.to, stamp: stamp, replica: 1)
    step.objects = [
      ObjectStep(ObjectName(ModelClass.name, .int(1)), .effects([.others(decided, [Effect(instruction)])]))
    ]
    return .step(step)
  }

  @Test func `a later value of another replica is shown over a pending value, and stays shown`() throws {
    let file = try DrivenFile()
    let made = try file.begin().uploads
    _ = try file.receive(.step(file.step(deciding: made)))
    try file.database.write { transaction in
      try transaction.setTime(file.time)
      let table = try #require(try transaction.table(ModelClass.name))
      let row = try #require(try table.row(withPrimaryKey: .int(1)))
      try table.set(.string("ours"), "m", ofRow: row)
    }
    #expect(try file.texts()[1] == "(2:\"ours\";)")
    let theirs = Instruction.set(InstructionPath("m"), .value(.string("theirs")), isDefault: false)
    _ = try file.receive(Self.step(file, theirs, Stamp(milliseconds: DrivenFile.start + 1000)))
    #expect(try file.texts()[1] == "(2:\"theirs\";)")
    // The next step changes another property. The pending change is merged again, and it is still the earlier one.
    let count = Instruction.set(InstructionPath("c"), .value(.int(5)), isDefault: false)
    _ = try file.receive(Self.step(file, count, Stamp(milliseconds: DrivenFile.start + 2000)))
    #expect(try file.texts()[1] == "(2:\"theirs\";3:5;)")
    #expect(try file.pending().keys.sorted() == [2])
    // The server decides by the same rule: the changeset has no effect, and the server tells nothing of the object.
    file.time += 100
    let uploads = file.upload().uploads
    #expect(uploads.map(\.sequence) == [2])
    var answer = try file.step(deciding: uploads)
    answer.objects = []
    _ = try file.receive(.step(answer))
    #expect(try file.pending().isEmpty)
    #expect(try file.texts()[1] == "(2:\"theirs\";3:5;)")
  }
}
