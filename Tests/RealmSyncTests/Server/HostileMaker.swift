import RealmStorage
import RealmSyncSupport
import RealmTestSupport

/// Makes instructions of every kind, with places and values of every kind. Most of them do not fit each other.
struct HostileMaker {
  var generator: SeededGenerator
  private let names = [
    "id", "q", "m", "c", "l", "le", "s", "d", "de", "e", "n", "ln", "r", "none", "", "l.ids",
  ]

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  private mutating func name() -> String { names[generator.below(names.count)] }

  private mutating func id() -> ElementID {
    let replicas: [UInt32] = [0, 1, 1, 1, 2, 7, 1 << 31, .max]
    let counters: [UInt32] = [0, 1, 2, 3, 4, 5, .max]
    return ElementID(
      replica: replicas[generator.below(replicas.count)], counter: counters[generator.below(counters.count)]
    )
  }

  private mutating func path() -> InstructionPath {
    var steps: [InstructionPath.Step] = []
    while steps.count < 4, generator.chance(40) {
      switch generator.below(7) {
      case 0, 1: steps.append(.property(name()))
      case 2, 3: steps.append(.key(generator.chance(80) ? "k1" : String(repeating: "k", count: 300)))
      case 4, 5: steps.append(.element(id()))
      default: steps.append(.collection(.list, made: nil))
      }
    }
    return InstructionPath(name(), steps)
  }

  private mutating func value() -> InstructionValue {
    switch generator.below(14) {
    case 0: .absent
    case 1: .value(.null)
    case 2, 3: .value(.int(Int64(generator.below(5)) * (.max / 4)))
    case 4: .value(.string("text"))
    case 5: .value(.double(.nan))
    case 6: .link(ObjectName(ModelClass.name, .int(Int64(generator.below(4)))))
    case 7: .link(ObjectName("Part", .int(1)))
    case 8: .link(ObjectName("Nothing", .null))
    case 9: .collection(.list)
    case 10: .list([.value(.int(1)), .link(ObjectName(ModelClass.name, .string("no key")))])
    case 11: .map(["a"], [.value(.bool(true))])
    case 12: .chunked(hash: [1, 2, 3], length: .max, isText: true)
    default: .embedded
    }
  }

  /// An instruction that can change some object.
  private mutating func fitting() -> Instruction {
    func at(_ name: String, _ steps: InstructionPath.Step...) -> InstructionPath {
      InstructionPath(name, steps)
    }
    let own = ElementID(replica: 1, counter: UInt32(1 + generator.below(30)))
    let other = ElementID(replica: 1, counter: UInt32(generator.below(30)))
    let number = InstructionValue.value(.int(Int64(generator.below(9))))
    let friend = InstructionValue.link(ObjectName(ModelClass.name, .int(Int64(1 + generator.below(4)))))
    return switch generator.below(22) {
    case 0, 1, 2: .create
    case 3: .delete
    case 4: .set(at("c"), number, isDefault: generator.chance(20))
    case 5: .add(at("c"), 3)
    case 6: .insert(at("l"), own, left: other, right: id(), number)
    case 7: .move(at("l"), other, id: own, left: id(), right: other)
    case 8: .erase(at("l"), other)
    case 9: .set(at("l", .element(other)), number, isDefault: false)
    case 10: .insert(at("le"), own, left: other, right: .none, .embedded)
    case 11: .set(at("le", .element(other), .property("r")), number, isDefault: false)
    case 12: .setInsert(at("s"), number)
    case 13: .setErase(at("s"), number)
    case 14: .set(at("d", .key("k1")), generator.chance(30) ? .absent : number, isDefault: false)
    case 15: .newEmbedded(at("e"))
    case 16: generator.chance(50) ? .killEmbedded(at("e")) : .killEmbedded(at("de", .key("k1")))
    case 17: .newEmbedded(at("de", .key("k1")))
    case 18: .setInsert(at("e", .property("s")), number)
    case 19: .set(at("n"), friend, isDefault: false)
    case 20: .insert(at("ln"), own, left: other, right: .none, friend)
    default: .clear(at("le"), .list)
    }
  }

  mutating func instruction() -> Instruction {
    guard generator.chance(15) else { return fitting() }
    return switch generator.below(18) {
    case 0, 1, 2: .create
    case 3: .delete
    case 4, 5: .set(path(), value(), isDefault: generator.chance(20))
    case 6: .add(path(), generator.chance(50) ? .min : 3)
    case 7: .newEmbedded(path())
    case 8: .killEmbedded(path())
    case 9, 10: .insert(path(), id(), left: id(), right: id(), value())
    case 11: .move(path(), id(), id: id(), left: id(), right: id())
    case 12: .erase(path(), id())
    case 13: .setInsert(path(), value())
    case 14: .setErase(path(), value())
    case 15: .clear(path(), [.list, .map, .set][generator.below(3)])
    case 16: .ingest(["q"], [.value(.int(1))])
    default: .set(InstructionPath("q"), .value(.int(Int64(generator.below(4)))), isDefault: false)
    }
  }

  mutating func changeset() -> Changeset {
    var made = Changeset()
    if generator.chance(10) { made.schema.append(schema()) }
    let tables = Array(repeating: ModelClass.name, count: 12) + ["Part", "Nothing", ""]
    for _ in 0..<1 + generator.below(2) {
      let keys: [Value] = [.int(1), .int(2), .int(3), .int(1), .int(2), .int(3), .null, .string("1")]
      let name = ObjectName(tables[generator.below(tables.count)], keys[generator.below(keys.count)])
      made.objects.append(
        ObjectInstructions(name, (0..<1 + generator.below(4)).map { _ in instruction() }))
    }
    return made
  }

  private mutating func schema() -> SchemaInstruction {
    let tables = [ModelClass.name, "Part", "New", "", String(repeating: "t", count: 300)]
    let table = tables[generator.below(tables.count)]
    let types: [ColumnType] = [.int64, .string, .link, .mixed, .bool]
    let kinds: [CollectionKind?] = [nil, .list, .set, .map]
    let property = PropertyDefinition(
      name(), types[generator.below(types.count)], collection: kinds[generator.below(4)],
      target: generator.chance(30) ? tables[generator.below(tables.count)] : nil,
      isOptional: generator.chance(50))
    if generator.chance(50) { return .addProperty(table: table, property) }
    return .addTable(table, key: generator.chance(30) ? nil : property)
  }
}
