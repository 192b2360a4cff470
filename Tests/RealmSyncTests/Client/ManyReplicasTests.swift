import RealmStorage
import RealmSync
import RealmSyncClient
import Testing

/// Steps that name very many replicas.
@Suite(.timeLimit(.minutes(3))) struct ManyReplicasTests {
  /// The greatest number of replicas that a message may name, besides the number 0, which names none.
  private static let most = MessageLimit.replicas - 1

  /// A part that names replicas which parts of other numbers do not name.
  private static func part(_ number: Int, of step: Step) -> Step {
    var part = step
    part.isLast = false
    part.replicas = [0] + (0..<UInt64(most)).map { 1000 + UInt64(number * most) + $0 }
    return part
  }

  @Test func `parts that name many replicas are put together, and too many are refused`() throws {
    let step = Step(
      from: 1, to: 2, tag: 3, querySet: 1, partition: nil, mark: Stamp(word: 0), lastSequence: 0)
    var parts = (0..<16).map { Self.part($0, of: step) }
    // The last part names the replicas of the first part again, in another order.
    var last = step
    last.replicas = [0] + parts[0].replicas.dropFirst().reversed()
    func deletion(_ replica: Int) -> ObjectStep {
      let decided = DecidedBy(version: 2, stamp: Stamp(word: 0), replica: UInt32(replica))
      return ObjectStep(ObjectName("T", .int(1)), .deleted(decided))
    }
    last.objects = [deletion(1)]
    let whole = try Step(joining: parts + [last])
    #expect(whole.replicas.count == 1 + 16 * Self.most)
    #expect(whole.objects == [deletion(Self.most)])
    parts.append(Self.part(16, of: step))
    #expect(throws: StepPartsProblem.tooManyReplicas) { try Step(joining: parts + [last]) }
    #expect(throws: StepPartsProblem.incomplete) { try Step(joining: parts) }
  }

  @Test func `a file learns many replicas from a step, and each of them only once`() throws {
    let file = try DrivenFile(changes: 0)
    try file.begin()
    let before = try file.position().replicas
    for _ in 0..<2 {
      var step = try file.step()
      step.replicas = Self.part(0, of: step).replicas
      let actions = try file.receive(.step(step))
      #expect(actions.problem == nil)
      let after = try file.position().replicas
      #expect(after.count == before.count + Self.most && Set(after).count == after.count)
      #expect(Array(after.prefix(before.count)) == before)
    }
  }

  @Test func `a client leaves a server that names too many replicas`() throws {
    let file = try DrivenFile(changes: 0)
    try file.begin()
    let position = try file.position()
    var number = 0
    var actions: [ClientSession.Action] = []
    while number < 17, actions.isEmpty {
      actions = try file.receive(.step(Self.part(number, of: file.step())))
      number += 1
    }
    #expect(number == 17)
    #expect(actions == [.failed(.tooManyReplicas), .disconnect(.never)])
    #expect(try file.position() == position)
    #expect("\(ClientProblem.tooManyReplicas)".contains("\(MessageLimit.stepReplicas)"))
  }
}
