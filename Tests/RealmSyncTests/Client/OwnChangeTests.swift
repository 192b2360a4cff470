import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import Testing

/// The changes that a server may send in the name of a file: only the file's own changes that were decided.
@Suite struct OwnChangeTests {
  private static let name = ObjectName(ModelClass.name, .int(50))

  /// A file with the number 7. Its changeset 1 has made a list of two elements, and the server has not told it yet how
  /// that changeset was decided.
  private static func file() throws -> (DrivenFile, UploadMessage) {
    let file = try DrivenFile(changes: 0)
    try file.database.write { transaction in
      try transaction.setTime(file.time)
      try ModelClass.make(transaction)
      _ = try transaction.table(ModelClass.name)?.insert([
        "id": .int(50), "l": .list([.int(1), .int(2)]),
      ])
    }
    let upload = try #require(try file.begin().uploads.first)
    return (file, upload)
  }

  private static func insertion(_ replica: UInt32, _ counter: UInt32) -> Instruction {
    .insert(
      InstructionPath("l"), ElementID(replica: replica, counter: counter), left: .none, right: .none,
      .value(.int(9)))
  }

  /// A forged change of the object 51, which others have made. The replica 1 of the part is 90, and the replica 2 is
  /// the file itself.
  enum Forgery: CaseIterable, Sendable {
    case wholeWithNewID, wholeWithPendingID, wholeWithMove, effectOfOthers, effectAsOwn, deletion

    fileprivate func change(_ step: Step) -> ObjectStep.Change {
      func decided(_ replica: UInt32) -> DecidedBy {
        DecidedBy(version: step.to, stamp: step.mark, replica: replica)
      }
      func whole(_ instruction: Instruction) -> ObjectStep.Change { .whole([.create, instruction]) }
      func effects(_ replica: UInt32, _ instruction: Instruction) -> ObjectStep.Change {
        .effects([.others(decided(replica), [Effect(.create), Effect(instruction)])])
      }
      let move = Instruction.move(
        InstructionPath("l"), ElementID(replica: 1, counter: 3), id: ElementID(replica: 2, counter: 8),
        left: .none, right: .none)
      return switch self {
      case .wholeWithNewID: whole(OwnChangeTests.insertion(2, 3))
      case .wholeWithPendingID: whole(OwnChangeTests.insertion(2, 1))
      case .wholeWithMove: .whole([.create, OwnChangeTests.insertion(1, 3), move])
      case .effectOfOthers: effects(1, OwnChangeTests.insertion(2, 3))
      case .effectAsOwn: effects(2, OwnChangeTests.insertion(1, 3))
      case .deletion: .deleted(decided(2))
      }
    }
  }

  /// - Parameter isStaged: True if the part is not the last one of its step.
  @Test(arguments: Forgery.allCases, [false, true])
  func `changes that a server makes up in the name of a file are refused, and nothing of them is kept`(
    forgery: Forgery, isStaged: Bool
  ) throws {
    let (file, _) = try Self.file()
    let before = try (file.pending(), file.position(), file.texts())
    var step = try file.step()
    (step.replicas, step.isLast) = ([0, 90, 7], !isStaged)
    step.objects = [ObjectStep(ObjectName(ModelClass.name, .int(51)), forgery.change(step))]
    let actions = try file.receive(.step(step))
    #expect(actions == [.failed(.forgedOwnChange), .disconnect(.never)])
    #expect(try file.pending() == before.0)
    #expect(try file.position() == before.1)
    #expect(try file.texts() == before.2)
    #expect(IntegrityCheck.run(try file.database.snapshot()).isClean)
  }

  @Test func `a step that resets a file tells nothing in the name of the number that the file gets`() throws {
    let (file, _) = try Self.file()
    _ = try file.receive(DrivenFile.welcome(.reset(DrivenFile.reset())))
    var step = try file.resetStep()
    step.replicas = [0, 7, 8]
    // Elements of the number that the file had before are told like those of any other replica.
    step.objects = [ObjectStep(Self.name, .whole([.create, Self.insertion(1, 1)]))]
    var forged = step
    forged.objects = [ObjectStep(Self.name, .whole([.create, Self.insertion(2, 1)]))]
    let text = try file.texts()
    #expect(try file.receive(.step(forged)) == [.failed(.forgedOwnChange), .disconnect(.never)])
    #expect(try file.texts() == text && file.pending().count == 1)
    try file.begin()
    _ = try file.receive(DrivenFile.welcome(.reset(DrivenFile.reset())))
    #expect(try file.receive(.step(step)).first == .didReset(isRecovered: true))
  }

  @Test func `own changes that were decided are told by their effects, and in whole objects`() throws {
    let (file, upload) = try Self.file()
    var step = try file.step(deciding: [upload])
    step.replicas = upload.replicas
    let own = UInt32(try #require(upload.replicas.firstIndex(of: 7)))
    let decided = DecidedBy(version: step.to, stamp: upload.stamp, replica: own)
    let object = try #require(upload.changeset.objects.first)
    step.objects = [
      ObjectStep(object.id, .effects([.others(decided, object.instructions.map { Effect($0) })]))
    ]
    let text = try file.texts()
    #expect(try file.receive(.step(step)).first == .applied(version: step.to))
    #expect(try file.pending().isEmpty && file.texts() == text)
    // The object has left the view, and comes again.
    var again = try file.step()
    again.replicas = upload.replicas
    again.objects = [ObjectStep(object.id, .whole(object.instructions))]
    #expect(try file.receive(.step(again)).first == .applied(version: again.to))
    #expect(try file.texts() == text)
    #expect(IntegrityCheck.run(try file.database.snapshot()).isClean)
  }
}
