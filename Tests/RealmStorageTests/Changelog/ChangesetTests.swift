import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct ChangesetTests {
  /// Random changesets of every kind of instruction.
  private struct Maker {
    var random: SeededGenerator

    mutating func below(_ end: Int) -> Int { Int.random(in: 0..<end, using: &random) }
    mutating func name() -> String { ["Person", "name", "Straße", "", "x.y", "tags"][below(6)] }
    mutating func id() -> ElementID {
      below(9) == 0
        ? .none
        : ElementID(replica: UInt32(below(300)), counter: UInt32.random(in: 0 ... .max, using: &random))
    }

    mutating func key() -> Value {
      switch below(5) {
      case 0: .null
      case 1: .int(Int64.random(in: .min ... .max, using: &random))
      case 2: .string(name())
      case 3: .uuid(SixteenBytes(high: random.next(), low: random.next()))
      default: .objectID(ObjectIDBytes((0..<12).map { _ in UInt8(below(256)) }))
      }
    }

    mutating func object() -> ObjectName { ObjectName(name(), key()) }

    mutating func value() -> InstructionValue {
      switch below(15) {
      case 12: .embedded
      case 13:
        .list((0..<below(3)).map { _ in .value(key()) } + (below(4) == 0 ? [.list([.link(object())])] : []))
      case 14: .map(["a", "b"], [.value(.bool(true)), .map([], [])])
      case 0: .absent
      case 1: .link(object())
      case 2: .collection(kind())
      case 3: .chunked(hash: (0..<32).map { _ in UInt8(below(256)) }, length: 1 << 20, isText: below(2) == 0)
      case 4: .value(.double(Double(bitPattern: random.next())))
      case 5: .value(.float(.nan))
      case 6: .value(.data((0..<below(40)).map { _ in UInt8(below(256)) }))
      case 7: .value(.date(Timestamp(seconds: Int64(below(1000)) - 500, nanoseconds: 999_999_999)))
      case 8: .value(.decimal128(SixteenBytes(high: random.next(), low: random.next())))
      case 9: .value(.bool(below(2) == 0))
      default: .value(key())
      }
    }

    mutating func kind() -> CollectionKind { [.list, .map, .set][below(3)] }

    mutating func path() -> InstructionPath {
      let steps = (0..<below(4)).map { _ -> InstructionPath.Step in
        switch below(4) {
        case 0: .property(name())
        case 1: .key("k\(below(9))")
        case 2: .element(id())
        default: .collection(kind(), made: below(2) == 0 ? nil : UInt64(1 + below(1000)))
        }
      }
      return InstructionPath(name(), steps)
    }

    mutating func instructions() -> [Instruction] {
      switch below(15) {
      case 0: return [.create]
      case 1: return [.delete]
      case 2, 3: return [.set(path(), value(), isDefault: below(2) == 0)]
      case 4: return [.add(path(), Int64.random(in: .min ... .max, using: &random))]
      case 5: return [.newEmbedded(path())]
      case 6: return [.killEmbedded(path())]
      case 7: return [.insert(path(), id(), left: id(), right: id(), value())]
      case 8: return run()
      case 9: return [.move(path(), id(), id: id(), left: id(), right: id())]
      case 10: return [.erase(path(), id())]
      case 11: return [.setInsert(path(), value())]
      case 12: return [.setErase(path(), value())]
      case 13: return [.clear(path(), kind())]
      default:
        let values = (0..<below(4)).map { _ in value() }
        return [.ingest(values.map { _ in name() }, values)]
      }
    }

    /// Instructions that append some elements. Now and then the last element has the greatest possible number.
    private mutating func run() -> [Instruction] {
      let (path, right, count) = (path(), id(), 2 + below(20))
      var left = id()
      let start = below(4) == 0 ? UInt32.max - UInt32(count) + 1 : UInt32(below(1000))
      return (0..<count).map { place in
        let id = ElementID(replica: 1, counter: start + UInt32(place))
        defer { left = id }
        return .insert(path, id, left: left, right: right, value())
      }
    }

    mutating func changeset() -> Changeset {
      var changeset = Changeset()
      for _ in 0..<below(3) {
        let property = PropertyDefinition(
          name(), ColumnType.allCases[below(ColumnType.allCases.count)],
          collection: below(2) == 0 ? nil : kind(), target: below(2) == 0 ? nil : name(),
          isOptional: below(2) == 0)
        changeset.schema.append(
          below(2) == 0
            ? .addTable(name(), key: below(2) == 0 ? nil : property)
            : .addProperty(table: name(), property))
      }
      for _ in 0..<below(6) {
        var instructions: [Instruction] = []
        for _ in 0..<below(8) { instructions += self.instructions() }
        let object = object()
        if changeset.objects.contains(where: { $0.id == object }) { continue }
        changeset.objects.append(ObjectInstructions(object, instructions))
      }
      return changeset
    }
  }

  @Test(arguments: 0..<Slow.count(200, slow: 20_000))
  func `a changeset that is written and read again is the same`(number: Int) throws {
    var maker = Maker(random: SeededGenerator(seed: UInt64(number)))
    let changeset = maker.changeset()
    #expect(try Changeset(bytes: changeset.bytes) == changeset, "seed \(number)")
  }

  @Test func `elements that are appended one after another take two bytes each besides their values`() {
    let path = InstructionPath("tags")
    var (changeset, left) = (Changeset(), ElementID.none)
    var instructions: [Instruction] = []
    for counter in 1...1_000 as ClosedRange<UInt32> {
      let id = ElementID(replica: 1, counter: counter)
      instructions.append(.insert(path, id, left: left, right: .none, .value(.bool(true))))
      left = id
    }
    changeset.objects = [ObjectInstructions(ObjectName("Person", .int(1)), instructions)]
    #expect(changeset.bytes.count < 2_040)
  }

  @Test func `names with different bytes are different names, even if Unicode treats them as equal`() throws {
    var changeset = Changeset()
    changeset.objects = ["\u{e9}", "e\u{301}"].map { ObjectInstructions(ObjectName($0, .int(1)), [.create]) }
    let read = try Changeset(bytes: changeset.bytes)
    #expect(read.objects.map { $0.id.table.utf8.count } == [2, 3])
  }

  /// A changeset may come from anybody.
  @Test(arguments: 0..<Slow.count(60, slow: 3_000))
  func `damaged bytes are refused, or are another valid changeset`(
    number: Int
  ) throws {
    var maker = Maker(random: SeededGenerator(seed: UInt64(number)))
    let bytes = maker.changeset().bytes
    for end in 0..<bytes.count {
      #expect(throws: ChangesetDamage.self) { try Changeset(bytes: Array(bytes[..<end])) }
    }
    #expect(throws: ChangesetDamage(part: .end, offset: bytes.count)) { try Changeset(bytes: bytes + [0]) }
    for place in bytes.indices {
      for bit in 0..<8 {
        var damaged = bytes
        damaged[place] ^= 1 << UInt8(bit)
        guard let read = try? Changeset(bytes: damaged) else { continue }
        #expect(try Changeset(bytes: read.bytes) == read, "seed \(number), byte \(place), bit \(bit)")
      }
    }
  }

  @Test func `counts greater than the number of items in the bytes take no memory`() {
    // The bytes promise very many items and hold none.
    let list = [
      1, 1, 0x61, ChangesetTag.object, 0, 0, ChangesetTag.set, 0, 0, ChangesetTag.list, 0xff, 0xff, 0x03,
    ]
    for start in [[0xff, 0xff, 0xff, 0xff, 0x0f], list] as [[UInt8]] {
      #expect(throws: ChangesetDamage.self) { try Changeset(bytes: start) }
    }
    // The last number of this run would exceed the greatest number by one.
    var bytes: [UInt8] = [1, 1, 0x61, ChangesetTag.object, 0, 0, ChangesetTag.insertRun, 0, 0, 1]
    bytes.appendVarint(UInt64(UInt32.max))
    bytes += [0, 0, 0, 0, 2, 0, 0, 0]
    #expect(throws: ChangesetDamage.self) { try Changeset(bytes: bytes) }
  }

  @Test func `paths with too many steps and values that mean nothing in other files are refused`() {
    let deep = InstructionPath("a", Array(repeating: .property("b"), count: InstructionPath.mostSteps + 1))
    for instruction in [
      .newEmbedded(deep), .set(InstructionPath("a"), .value(.typedLink(table: 1, row: 1)), isDefault: false),
      .set(InstructionPath("a"), .value(.list([], id: 1)), isDefault: false),
      .set(InstructionPath("a"), .list([.absent]), isDefault: false),
      .set(InstructionPath("a"), .map(["b", "a"], [.list([]), .list([])]), isDefault: false),
      .set(
        InstructionPath("a"), (0..<101).reduce(.list([])) { value, _ in .list([value]) }, isDefault: false),
    ] as [Instruction] {
      var changeset = Changeset()
      changeset.objects = [ObjectInstructions(ObjectName("T", .int(1)), [instruction])]
      #expect(throws: ChangesetDamage.self) { try Changeset(bytes: changeset.bytes) }
    }
  }
}
