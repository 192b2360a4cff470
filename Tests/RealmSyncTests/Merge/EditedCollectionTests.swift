import RealmStorage
import RealmSyncSupport
import RealmTestSupport
import Testing

/// Collections of an object that are changed many times. The library holds them in memory meanwhile, and the result
/// must be the same as if each change had been made in the file.
@Suite struct EditedCollectionTests {
  private static let objects = 2...150
  private static let owner = ObjectName("Object", .int(1))

  private static func make(_ transaction: WriteTransaction) throws {
    _ = try transaction.createTable(
      TableSchema(
        "Object", hasElementIDs: true,
        columns: [
          Column("id", .int64, index: .unique), Column("ln", .link, collection: .list),
          Column("sn", .link, collection: .set), Column("dn", .link, collection: .map),
        ]))
  }

  /// Instructions that fit each other. Most of them change the collections of one object, with links to objects that
  /// are made and deleted.
  private static func instructions(_ count: Int, _ generator: inout SeededGenerator) -> [ObjectInstructions] {
    var made = [ObjectInstructions(owner, [.create])]
    var (ids, last) = ([ElementID](), UInt32(0))
    var present: Set<Int> = []
    func name(_ key: Int) -> ObjectName { ObjectName("Object", .int(Int64(key))) }
    func newID() -> ElementID {
      last += 1
      return ElementID(replica: 1, counter: last)
    }
    let list = InstructionPath("ln")
    while made.count < count {
      let key = Int.random(in: objects, using: &generator)
      let link = InstructionValue.link(name(key))
      let place = generator.below(ids.count + 1)
      let left = place == 0 ? ElementID.none : ids[place - 1]
      let instruction: Instruction
      switch generator.below(100) {
      case 0 where generator.chance(50):
        let isThere = present.remove(key) != nil
        if !isThere { present.insert(key) }
        made.append(ObjectInstructions(name(key), [isThere ? .delete : .create]))
        continue
      case ..<30:
        let id = newID()
        ids.insert(id, at: place)
        instruction = .insert(list, id, left: left, right: .none, link)
      case ..<40 where place > 0:
        let element = ids.remove(at: place - 1)
        let target = generator.below(ids.count + 1)
        let behind = target == 0 ? ElementID.none : ids[target - 1]
        ids.insert(element, at: target)
        let id = generator.chance(20) ? element : newID()
        instruction = .move(list, element, id: id, left: behind, right: .none)
      case ..<55 where place > 0:
        ids.remove(at: place - 1)
        instruction = .erase(list, left)
      case ..<65 where place > 0:
        instruction = .set(InstructionPath("ln", [.element(left)]), link, isDefault: false)
      case ..<66 where generator.chance(10):
        ids.removeAll()
        instruction = .clear(list, .list)
      case ..<80: instruction = .setInsert(InstructionPath("sn"), link)
      case ..<85: instruction = .setErase(InstructionPath("sn"), link)
      default:
        let path = InstructionPath("dn", [.key("k\(generator.below(200))")])
        instruction = .set(path, generator.chance(20) ? .absent : link, isDefault: false)
      }
      made.append(ObjectInstructions(owner, [instruction]))
    }
    return made
  }

  private struct Result {
    var content: [Instruction]?
    /// The instructions that undo each instruction.
    var inverses: [[Instruction]] = []
    var steps = 0
  }

  /// - Parameter together: True if changes of one object that follow each other are made at once, and links find their
  ///   objects at the end.
  private static func run(_ all: [ObjectInstructions], together: Bool) throws -> Result {
    let database = try Database(inMemory: "edited")
    let transaction = try database.beginWrite()
    try make(transaction)
    var result = Result()
    func apply() throws(StorageError) {
      var object: EditedObject?
      for one in all {
        if let before = object, !together || before.name != one.id {
          var before = before
          try before.finish()
          object = nil
        }
        var edited: EditedObject
        if let object { edited = object } else { edited = try transaction.object(one.id) }
        for instruction in one.instructions {
          result.inverses.append(try edited.inverse(of: instruction))
          try edited.apply(instruction, isNew: instruction.isMove)
        }
        object = edited
      }
      try object?.finish()
    }
    if together { try transaction.gatheringObjects(apply) } else { try apply() }
    result.content = try transaction.object(owner).content()
    result.steps = try transaction.elementSteps
    try transaction.commit()
    let check = IntegrityCheck.run(try database.snapshot())
    #expect(check.isClean, "\(check.findings)")
    return result
  }

  /// Instructions as sorted texts, because the order of links that wait in sets and maps is not fixed.
  private static func texts(_ instructions: [Instruction]?) -> [String] {
    (instructions ?? []).map { "\($0)" }.sorted()
  }

  @Test func `collections that are held in memory get the content of those that are changed in the file`()
    throws
  {
    for seed in Slow.seeds(3, slow: 60) {
      var generator = SeededGenerator(seed: seed)
      let all = Self.instructions(4000, &generator)
      let (together, apart) = (try Self.run(all, together: true), try Self.run(all, together: false))
      #expect(Self.texts(together.content).count > 200, "seed \(seed)")
      #expect(Self.texts(together.content) == Self.texts(apart.content), "seed \(seed)")
      for (place, (one, other)) in zip(together.inverses, apart.inverses).enumerated() {
        guard Self.texts(one) != Self.texts(other) else { continue }
        Issue.record("seed \(seed), \(all[place]): \(one) in place of \(other)")
        break
      }
      // The collections were held in memory.
      #expect(together.steps > 0 && together.steps < apart.steps / 2, "seed \(seed)")
    }
  }
}
