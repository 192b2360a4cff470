import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport
import Testing

/// Parts of steps whose objects the client makes from the bytes of a creation.
@Suite struct CreatedPartTests {
  private static let keys = Int64(1)...300

  /// The parts of a step: one with objects that come as creations, and the part that ends the step.
  private static func parts(_ last: Step) throws -> (created: Step, last: Step) {
    var created = last
    (created.isLast, created.own, created.schema, created.objects) = (false, [], [], [])
    created.replicas = [0]
    let creations: CreatedObjects = try #require(CreatedObjects(PlainObjects.creations(keys).bytes))
    created.created = creations
    return (created, last)
  }

  /// An empty step that defines the class.
  private static func definingStep(_ file: DrivenFile) throws -> Step {
    var step = try file.step()
    step.schema = PlainObjects.definitions
    return step
  }

  /// All objects that the creations make, as texts.
  private static func made(_ text: String = "as it was made") throws -> [Int64: String] {
    let database = try Database(inMemory: "expected")
    try database.write { transaction in
      _ = try PlainObjects.make(transaction)
      try transaction.apply(PlainObjects.creations(keys, text).objects)
    }
    return try PlainObjects.texts(database)
  }

  /// The bytes of the part that the file keeps under a number.
  private static func staged(_ number: UInt8, _ file: DrivenFile) throws -> [UInt8]? {
    let tree = try file.database.snapshot().tree(ClientPosition.tree)
    return try tree.value(for: [4, 0, 0, 0, 0, 0, 0, 0, number])
  }

  // MARK: - Parts that wait

  @Test func `a part is kept in the bytes of its message until a new session begins`() throws {
    let file = try DrivenFile(changes: 0)
    try file.begin()
    let (created, last) = try Self.parts(Self.definingStep(file))
    // Another program need not compress the message.
    let frame = [14, 0] + created.plainBytes
    #expect(frame != ServerMessage.step(created).bytes)
    let message = try ServerMessage(bytes: frame)
    #expect(file.session.receive(message, time: file.time).isEmpty)
    #expect(file.session.receive(message, time: file.time).isEmpty)
    for number in [0, 1] as [UInt8] { #expect(try Self.staged(number, file) == frame) }
    #expect(try PlainObjects.texts(file.database).isEmpty)
    // The connection is lost. The next session gets the whole step again.
    file.session.disconnected()
    #expect(try Self.staged(0, file) == frame)
    try file.begin()
    for number in [0, 1] as [UInt8] { #expect(try Self.staged(number, file) == nil) }
    #expect(try file.receive(.step(created)).isEmpty)
    #expect(try Self.staged(0, file) == ServerMessage.step(created).bytes)
    let actions = try file.receive(.step(last))
    #expect(actions.first == .applied(version: last.to))
    #expect(try PlainObjects.texts(file.database) == Self.made())
    #expect(try Self.staged(0, file) == nil)
    #expect(IntegrityCheck.run(try file.database.snapshot()).isClean)
  }

  @Test func `a step that decides changes of the file may bring objects of others as creations`() throws {
    let file = try DrivenFile(changes: 1)
    let uploads = try file.begin().uploads
    var step = try file.step(deciding: uploads)
    step.schema = PlainObjects.definitions
    let (created, last) = try Self.parts(step)
    #expect(try file.receive(.step(created)).isEmpty)
    _ = try file.receive(.step(last))
    #expect(try file.pending().isEmpty)
    #expect(try file.texts().keys.sorted() == [1])
    #expect(try PlainObjects.texts(file.database) == Self.made())
  }

  @Test func `a reset may bring objects as creations`() throws {
    let file = try DrivenFile(changes: 1)
    try file.begin()
    _ = try file.receive(DrivenFile.welcome(.reset(DrivenFile.reset())))
    let (created, last) = try Self.parts(file.resetStep(PlainObjects.definitions))
    #expect(try file.receive(.step(created)).isEmpty)
    let actions = try file.receive(.step(last))
    #expect(actions.first == .didReset(isRecovered: true))
    #expect(try file.texts().keys.sorted() == [1, 100])
    #expect(try PlainObjects.texts(file.database) == Self.made())
    #expect(IntegrityCheck.run(try file.database.snapshot()).isClean)
  }

  // MARK: - Objects that are there, and changes that are pending

  /// A file that has some of the objects, with pending changes of a few of them, and the objects that it got from the
  /// server.
  private static func file(_ seed: UInt64) throws -> (file: DrivenFile, known: [Int64: String]) {
    var generator = SeededGenerator(seed: seed)
    let file = try DrivenFile(changes: 0)
    try file.begin()
    var step = try definingStep(file)
    for key in Int64(250)...330 where generator.chance(40) {
      let content = PlainObjects.content(key, "as it was before")
      step.objects.append(ObjectStep(PlainObjects.id(key), .whole(content)))
    }
    _ = try file.receive(.step(step))
    let known = try PlainObjects.texts(file.database)
    for _ in 0..<generator.below(8) {
      try file.database.write { transaction in
        try transaction.setTime(file.time)
        let table = try PlainObjects.make(transaction)
        for _ in 0..<1 + generator.below(4) { try change(table, &generator) }
      }
    }
    return (file, known)
  }

  /// Makes an object that the server may also have, or changes or deletes an existing object.
  private static func change(_ table: WritableTable, _ generator: inout SeededGenerator) throws {
    let key = Value.int(Int64(240 + generator.below(100)))
    guard let row = try table.row(withPrimaryKey: key) else {
      try table.insert(["id": key, "text": .string("mine \(generator.below(10))")])
      return
    }
    switch generator.below(3) {
    case 0: try table.remove(row)
    case 1: try table.set(.string("changed \(generator.below(10))"), "text", ofRow: row)
    default: try table.set(generator.chance(50) ? .null : .string("note"), "note", ofRow: row)
    }
  }

  /// The objects of a file without its pending changes.
  private static func textsWithoutPending(_ file: DrivenFile) throws -> [Int64: String] {
    let transaction = try file.database.beginWrite()
    defer { transaction.cancel() }
    var pending: [StoredChangeset] = []
    try transaction.changesets()?.forEach(transaction) { changeset in
      pending.append(changeset)
      return true
    }
    for changeset in pending.reversed() { try transaction.undo(changeset) }
    return try PlainObjects.texts(transaction.table(PlainObjects.name)?.reading())
  }

  @Test(arguments: Slow.seeds(40, slow: 2_000))
  func `objects that come as creations meet the objects of the file as objects that come one by one do`(
    seed: UInt64
  ) throws {
    let (one, known) = try Self.file(seed)
    let (other, _) = try Self.file(seed)
    var generator = SeededGenerator(seed: ~seed)
    let told = Array(Self.keys).shuffled(using: &generator)
    let pending = try one.pending()
    // There are two rounds, so that the second one may meet recorded facts about the objects.
    for round in 0..<2 {
      var step = try one.step()
      let creations: CreatedObjects = try #require(
        CreatedObjects(PlainObjects.creations(told, "round \(round)").bytes))
      step.created = creations
      let first = try one.receive(.step(step))
      // This file gets the step without its bytes, so the objects are values.
      let second = other.session.receive(.step(step.expanded), time: other.time)
      #expect(first.first == .applied(version: step.to) && second.first == first.first, "seed \(seed)")
      let shown = try PlainObjects.texts(one.database)
      #expect(try shown == PlainObjects.texts(other.database), "seed \(seed), round \(round)")
      #expect(try one.pending() == pending && other.pending() == pending, "seed \(seed)")
      var expected = known
      expected.merge(try Self.made("round \(round)")) { $1 }
      #expect(try Self.textsWithoutPending(one) == expected, "seed \(seed), round \(round)")
      #expect(try Self.textsWithoutPending(other) == expected, "seed \(seed), round \(round)")
      let check = IntegrityCheck.run(try one.database.snapshot())
      #expect(check.isClean, "seed \(seed), round \(round)")
    }
  }

  @Test func `an object that the file has deleted stays away while its deletion is pending`() throws {
    let file = try DrivenFile(changes: 0)
    try file.begin()
    var step = try Self.definingStep(file)
    step.objects = [ObjectStep(PlainObjects.id(5), .whole(PlainObjects.content(5)))]
    _ = try file.receive(.step(step))
    try file.database.write { transaction in
      try transaction.setTime(file.time)
      let table = try PlainObjects.make(transaction)
      try table.remove(try #require(try table.row(withPrimaryKey: .int(5))))
    }
    step = try file.step()
    let creations: CreatedObjects = try #require(CreatedObjects(PlainObjects.creations(Self.keys).bytes))
    step.created = creations
    _ = try file.receive(.step(step))
    let shown = try PlainObjects.texts(file.database)
    #expect(shown[5] == nil && shown.count == Self.keys.count - 1)
    #expect(try Self.textsWithoutPending(file) == Self.made())
  }

  // MARK: - Other definitions

  private static let misfits: [(object: ObjectInstructions, problem: ClientProblem)] = [
    (
      ObjectInstructions(ObjectName("Unknown", .int(1)), [.create]),
      .otherSchema(table: "Unknown", property: nil)
    ),
    (misfit(PlainObjects.set("extra", .int(1))), .otherSchema(table: PlainObjects.name, property: "extra")),
    (misfit(PlainObjects.set("text", .int(1))), .otherSchema(table: PlainObjects.name, property: "text")),
    (misfit(PlainObjects.set("text", .null)), .otherSchema(table: PlainObjects.name, property: "text")),
    (misfit(PlainObjects.set("id", .int(1))), .otherSchema(table: PlainObjects.name, property: "id")),
    (
      ObjectInstructions(ObjectName(PlainObjects.name, .string("1")), [.create]),
      .otherSchema(table: PlainObjects.name, property: "id")
    ),
  ]

  private static func misfit(_ instruction: Instruction) -> ObjectInstructions {
    ObjectInstructions(PlainObjects.id(1_000), [.create, instruction])
  }

  @Test(arguments: 0..<6)
  func `creations of a class that the file defines differently are refused by name, and nothing is changed`(
    index: Int
  ) throws {
    #expect(Self.misfits.count == 6)
    let (object, problem) = Self.misfits[index]
    let file = try DrivenFile(changes: 0)
    try file.begin()
    _ = try file.receive(.step(Self.definingStep(file)))
    let before = try (file.database.snapshot().version, file.position())
    var changeset = PlainObjects.creations(Self.keys)
    changeset.objects.insert(object, at: 150)
    var step = try file.step()
    let creations: CreatedObjects = try #require(CreatedObjects(changeset.bytes))
    step.created = creations
    let actions = try file.receive(.step(step))
    #expect(actions == [.failed(problem), .disconnect(.never)])
    #expect(try file.database.snapshot().version == before.0 && file.position() == before.1)
    #expect(try PlainObjects.texts(file.database).isEmpty)
  }

  @Test func `a definition that differs from that of the file is refused before any object is made`() throws {
    let file = try DrivenFile(changes: 0)
    try file.begin()
    _ = try file.receive(.step(Self.definingStep(file)))
    var step = try file.step()
    step.schema = [.addProperty(table: PlainObjects.name, PropertyDefinition("note", .data))]
    let (created, last) = try Self.parts(step)
    #expect(try file.receive(.step(created)).isEmpty)
    let actions = try file.receive(.step(last))
    let problem = ClientProblem.otherSchema(table: PlainObjects.name, property: "note")
    #expect(actions == [.failed(problem), .disconnect(.never)])
    #expect(try PlainObjects.texts(file.database).isEmpty)
  }
}
