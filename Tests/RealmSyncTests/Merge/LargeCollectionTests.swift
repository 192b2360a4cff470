import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport
import Testing

/// Many changes of one collection in one changeset, and many links to objects that come later. The tests count the
/// work: the elements and links that the code looks at.
@Suite struct LargeCollectionTests {
  private static let few = Slow.count(2500, slow: 10_000)
  /// The limit of steps for each element. A sequence of so many elements takes fewer, and looking at half of the list
  /// each time takes far more.
  private static let mostSteps = 600

  private static func id(_ number: Int) -> ElementID { ElementID(replica: 1, counter: UInt32(number)) }
  private static func link(_ key: Int) -> InstructionValue {
    .link(ObjectName(ModelClass.name, .int(Int64(key))))
  }

  private static func check(_ steps: (few: Int, twice: Int), _ title: Comment) {
    #expect(steps.few > few, title)
    #expect(steps.few < few * mostSteps, title)
    #expect(steps.twice < steps.few * 5 / 2, title)
  }

  // MARK: - On a server

  /// The snapshot of a server's file after some uploads, and the work that their integration took.
  private static func integrate(_ changesets: [Changeset]) throws -> (snapshot: Snapshot, steps: Int) {
    let database = try Database(inMemory: "server")
    let transaction = try database.beginWrite()
    try ModelClass.make(transaction)
    let state = try ServerState(transaction, settings: ModelClass.settings)
    try state.integrate(
      LogRecord(tag: 1, time: 1000, .register(Registration(replica: 5, user: "anna"))), in: transaction)
    try state.integrate(
      LogRecord(tag: 2, time: 1000, .querySet(replica: 5, number: 1, .everything)), in: transaction)
    var last: [UInt8] = []
    for (place, changeset) in changesets.enumerated() {
      let hash = "\(place)".utf8.map(\.self).contentHash
      let upload = Upload(
        replica: 5, user: "anna", sequence: UInt64(place) + 1, previous: last, hash: hash, base: 1,
        stamp: Stamp(milliseconds: 1000), querySets: [1], replicas: [0, 5], changeset: changeset)
      let done = try state.integrate(LogRecord(tag: 3, time: 1000, .upload(upload)), in: transaction)
      let entry = try #require(done)
      #expect(entry.refusals.isEmpty)
      last = hash
    }
    let steps = try transaction.elementSteps
    try transaction.commit()
    let snapshot = try database.snapshot()
    #expect(IntegrityCheck.run(snapshot).isClean)
    return (snapshot, steps)
  }

  /// The elements of a property of an object, and the number of its links that wait.
  private static func value(
    _ property: String, of key: Int64 = 1, _ snapshot: Snapshot
  ) throws -> (value: Value?, waiting: Int) {
    let table = try #require(try snapshot.table(ModelClass.name))
    let row = try #require(try table.row(withPrimaryKey: .int(key)))
    let column = try #require(table.schema.columns.firstIndex { $0.name == property })
    let waiting = try table.absentLinks(ofColumn: column, ofRow: row).count
    return (try table.value(table.schema.columns[column], ofRow: row), waiting)
  }

  /// Elements that are inserted behind random others, and the numbers in the resulting order.
  private static func insertions(_ count: Int) -> (instructions: [Instruction], order: [Int64]) {
    var generator = SeededGenerator(seed: 1)
    var (instructions, order) = ([Instruction](), [Int64]())
    for number in 1...count {
      let place = generator.below(number)
      let left = place == 0 ? ElementID.none : id(Int(order[place - 1]))
      order.insert(Int64(number), at: place)
      instructions.append(
        .insert(InstructionPath("l"), id(number), left: left, right: .none, .value(.int(Int64(number)))))
    }
    return (instructions, order)
  }

  @Test func `twice as many elements that are inserted into a list at once take twice the work`() throws {
    func steps(_ count: Int, isNew: Bool) throws -> Int {
      let (instructions, order) = Self.insertions(count)
      let changesets: [Changeset] =
        isNew ? [.one(1, [.create] + instructions)] : [.one(1, [.create]), .one(1, instructions)]
      let (snapshot, steps) = try Self.integrate(changesets)
      let list = try Self.value("l", snapshot).value
      let expected = order.map { Value.int($0) }
      #expect(list?.elements == expected)
      return steps
    }
    for isNew in [true, false] {
      Self.check(
        (try steps(Self.few, isNew: isNew), try steps(2 * Self.few, isNew: isNew)),
        isNew ? "into a new object" : "into one that is there")
    }
  }

  /// - Parameter place: 0 if the objects come with the links, 1 if they come in the next upload.
  @Test(arguments: [0, 1])
  func `twice as many links to objects that come later take twice the work`(
    place: Int
  ) throws {
    func steps(_ count: Int) throws -> Int {
      let target = ModelClass.name
      var first = Changeset()
      first.schema = [
        .addProperty(table: target, PropertyDefinition("sn", .link, collection: .set, target: target)),
        .addProperty(table: target, PropertyDefinition("dn", .link, collection: .map, target: target)),
      ]
      var instructions: [Instruction] = [.create]
      for number in 1...count {
        let value = Self.link(number + 1)
        let key = InstructionPath("dn", [.key("k\(number)")])
        instructions += [
          .insert(
            InstructionPath("ln"), Self.id(number), left: number == 1 ? .none : Self.id(number - 1),
            right: .none, value),
          .setInsert(InstructionPath("sn"), value), .set(key, value, isDefault: false),
        ]
      }
      first.objects = [ObjectInstructions(ObjectName(target, .int(1)), instructions)]
      var changesets = [first]
      if place > 0 { changesets.append(Changeset()) }
      for number in 1...count {
        let name = ObjectName(target, .int(Int64(number + 1)))
        changesets[place].objects.append(ObjectInstructions(name, [.create]))
      }
      let (snapshot, steps) = try Self.integrate(changesets)
      for property in ["ln", "sn", "dn"] {
        let (value, waiting) = try Self.value(property, snapshot)
        #expect(value?.elements?.count == count && waiting == 0, "\(property)")
      }
      return steps
    }
    Self.check((try steps(Self.few), try steps(2 * Self.few)), "objects in upload \(place)")
  }

  // MARK: - On a client

  @Test(arguments: [false, true])
  func `twice as many links that a step brings before their objects take twice the work`(
    isWhole: Bool
  ) throws {
    func steps(_ count: Int) throws -> Int {
      let file = try DrivenFile(changes: 1)
      let sent = try file.begin().uploads
      _ = try file.receive(.step(file.step(deciding: sent)))
      var step = try file.step()
      step.replicas = [0, 90]
      var content: [Instruction] = [.create]
      for number in 1...count {
        // Each element is inserted before all others.
        content.append(
          .insert(InstructionPath("ln"), Self.id(number), left: .none, right: .none, Self.link(number + 100)))
      }
      let decided = DecidedBy(version: step.to, stamp: step.mark, replica: 1)
      let change: ObjectStep.Change =
        isWhole ? .whole(content) : .effects([.others(decided, content.map { Effect($0) })])
      step.objects = [ObjectStep(ObjectName(ModelClass.name, .int(100)), change)]
      for number in 1...count {
        let name = ObjectName(ModelClass.name, .int(Int64(number + 100)))
        step.objects.append(ObjectStep(name, .whole([.create])))
      }
      let transaction = try file.database.beginWrite()
      var client = try ClientFile(transaction)
      _ = try client.apply(StepParts([step]), time: file.time)
      let steps = try transaction.elementSteps
      try transaction.commit()
      let snapshot = try file.database.snapshot()
      let (list, waiting) = try Self.value("ln", of: 100, snapshot)
      let table = try #require(try snapshot.table(ModelClass.name))
      let expected = try (1...Int64(count)).reversed().map { number in
        let row = try #require(try table.row(withPrimaryKey: .int(number + 100)))
        return Value.link(row)
      }
      #expect(list?.elements == expected && waiting == 0)
      #expect(IntegrityCheck.run(snapshot).isClean)
      return steps
    }
    Self.check((try steps(Self.few), try steps(2 * Self.few)), isWhole ? "a whole object" : "effects")
  }
}
