import RealmStorage
import RealmSync
import Testing

/// Messages that would take many times more memory than they have bytes.
@Suite struct MessageLimitTests {
  private static func varint(_ number: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendVarint(UInt64(number))
    return bytes
  }

  private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  private static func fault(ofClient bytes: [UInt8]) -> MessageDamage.Reason? {
    do throws(MessageDamage) {
      _ = try ClientMessage(bytes: bytes)
      return nil
    } catch {
      return error.reason
    }
  }

  private static func fault(ofServer bytes: [UInt8]) -> MessageDamage.Reason? {
    do throws(MessageDamage) {
      _ = try ServerMessage(bytes: bytes)
      return nil
    } catch {
      return error.reason
    }
  }

  /// True if a reader refuses a changeset because it has more items than the limit.
  private static func isTooMuch(_ changeset: Changeset, _ most: Int) -> Bool {
    do throws(ChangesetDamage) {
      _ = try Changeset(bytes: changeset.bytes, mostInstructions: most)
      return false
    } catch {
      return error.part == .count
    }
  }

  private static func changeset(_ instruction: Instruction) -> Changeset {
    var changeset = Changeset()
    changeset.objects = [ObjectInstructions(ObjectName("A", .int(1)), [instruction])]
    return changeset
  }

  // MARK: - Changesets

  @Test func `values in lists and maps, and steps of paths, count as instructions do`() {
    let path = InstructionPath("a")
    let nulls = [InstructionValue](repeating: .value(.null), count: 9)
    let keys = (0..<9).map { "key \($0)" }
    let steps = (0..<9).map { InstructionPath.Step.key("key \($0)") }
    let instructions: [Instruction] = [
      .set(path, .list(nulls), isDefault: false), .set(path, .map(keys, nulls), isDefault: false),
      .set(path, .list([.list(Array(nulls.dropLast()))]), isDefault: false),
      .ingest([String](repeating: "a", count: 9), nulls), .erase(InstructionPath("a", steps), .none),
    ]
    for instruction in instructions {
      let changeset = Self.changeset(instruction)
      // The object and the instruction also count.
      #expect(!Self.isTooMuch(changeset, 11), "\(instruction)")
      #expect(Self.isTooMuch(changeset, 10), "\(instruction)")
    }
  }

  @Test func `a changeset has no more names than it may have instructions`() throws {
    let bytes = [10] + Self.zeros(10) + [0]
    #expect(try Changeset(bytes: bytes, mostInstructions: 10) == Changeset())
    let damage = #expect(throws: ChangesetDamage.self) {
      try Changeset(bytes: bytes, mostInstructions: 9)
    }
    #expect(damage?.part == .count)
  }

  /// A changeset that inserts `count` nulls into a list with one item.
  private static func run(_ count: Int) -> [UInt8] {
    // These bytes are the names, the object `A` 1, the path `a`, the id and its neighbours.
    var bytes: [UInt8] = [2, 1, 0x41, 1, 0x61, 16, 0, 5, 2, 9, 1, 0, 0, 1, 0, 0, 0, 0]
    bytes += varint(count) + zeros(count)
    bytes.append(0)
    return varint(bytes.count) + bytes
  }

  private static func isTooMuch(_ reason: MessageDamage.Reason?) -> Bool {
    if case .changeset(let damage)? = reason { damage.part == .count } else { false }
  }

  @Test func `an upload with more instructions than are allowed is refused before it takes their memory`() {
    func upload(_ count: Int) -> [UInt8] {
      // These bytes are the sequence, no hash, the base, the stamp, the query set, no flags and one replica, which is
      // the number 0.
      [12, 0, 1, 0, 1] + Self.zeros(8) + [1, 0, 1, 0] + Self.run(count)
    }
    #expect(Self.fault(ofClient: upload(100)) == nil)
    #expect(Self.isTooMuch(Self.fault(ofClient: upload(MessageLimit.uploadInstructions))))
  }

  @Test func `a step with more instructions than are allowed is refused before it takes their memory`() {
    func step(_ count: Int) -> [UInt8] {
      // These bytes are the versions, the tag, the query set, the mark, the last sequence, the flag of the last part,
      // nothing that remains, no own changeset, and one replica, which is the number 0. Behind the changeset there are
      // no deciding changesets and one whole object.
      let head: [UInt8] = [14, 0, 1, 2, 3, 1] + Self.zeros(8) + [0, 1, 0, 0, 0, 1, 0]
      return head + Self.run(count) + [0, 1]
    }
    #expect(Self.fault(ofServer: step(100)) == nil)
    #expect(Self.isTooMuch(Self.fault(ofServer: step(MessageLimit.stepInstructions))))
  }

  // MARK: - Lists

  @Test func `a list with more parts than a message may have is refused`() {
    let (most, more) = (MessageLimit.clientParts, MessageLimit.clientParts + 1)
    let tooMany = MessageDamage.Reason.tooLarge(found: UInt64(more), limit: UInt64(most))
    // These are capabilities without letters, and queries of classes without a name.
    #expect(Self.fault(ofClient: [2, 1, 1] + Self.varint(more) + Self.zeros(more + 2)) == tooMany)
    #expect(Self.fault(ofClient: [2, 1, 1] + Self.varint(1000) + Self.zeros(1000 + 2)) == nil)
    #expect(Self.fault(ofClient: [8, 1] + Self.varint(more) + Self.zeros(2 * more)) == tooMany)
    #expect(Self.fault(ofClient: [8, 1] + Self.varint(1000) + Self.zeros(2 * 1000)) == nil)
    let many = MessageLimit.serverParts + 1
    let tooManyOfServer = MessageDamage.Reason.tooLarge(
      found: UInt64(many), limit: UInt64(MessageLimit.serverParts))
    #expect(Self.fault(ofServer: [4, 1] + Self.varint(many) + Self.zeros(many)) == tooManyOfServer)
  }

  @Test func `the lists of a message count together`() {
    // The message holds a changeset of an object `A` without instructions. Behind it there are two lists, whose parts
    // are all the own changeset 0.
    func step(_ first: Int) -> [UInt8] {
      let changeset: [UInt8] = [1, 1, 0x41, 16, 0, 5, 2, 16, 0, 5, 4, 0]
      var frame: [UInt8] = [14, 0, 1, 2, 3, 1] + Self.zeros(8) + [0, 1, 0, 0, 0, 1, 0]
      frame += [UInt8(changeset.count)] + changeset + [0]
      for count in [first, 1000] { frame += [0] + Self.varint(count) + Self.zeros(2 * count) }
      return frame
    }
    #expect(Self.fault(ofServer: step(1000)) == nil)
    // One replica has already been counted.
    let left = MessageLimit.serverParts - 1
    #expect(Self.fault(ofServer: step(left)) == .tooLarge(found: 1000, limit: 0))
  }
}
