import RealmStorage
import RealmSync
import RealmSyncClient
import RealmSyncSupport
import RealmTestSupport
import Testing

/// Steps of many parts, whose objects the client prepares when each part comes.
@Suite struct PreparedPartTests {
  /// The parts of a step: one with the definitions, some with creations, and one that ends the step.
  private static func parts(
    _ file: DrivenFile, _ keys: [[Int64]], deciding uploads: [UploadMessage] = []
  ) throws -> [Step] {
    let last = uploads.isEmpty ? try file.step() : try file.step(deciding: uploads)
    var first = last
    (first.isLast, first.own, first.objects) = (false, [], [])
    first.schema = PlainObjects.definitions
    var parts = [first]
    for keys in keys {
      var part = first
      (part.schema, part.replicas) = ([], [0])
      let creations: CreatedObjects = try #require(CreatedObjects(PlainObjects.creations(keys).bytes))
      part.created = creations
      parts.append(part)
    }
    return parts + [last]
  }

  /// The same step in one piece. It has no bytes from which objects could be prepared.
  private static func joined(_ parts: [Step]) -> Step {
    var step = parts[parts.count - 1]
    step.schema = parts[0].schema
    step.objects = parts.dropLast().flatMap(\.expanded.objects) + step.objects
    return step
  }

  private static func prepared(_ file: DrivenFile) throws -> Int? {
    try file.database.snapshot().hiddenTable(PlainObjects.name)?.count
  }

  private static func hasParts(_ file: DrivenFile) throws -> Bool {
    try file.reading { try $0.hasStagedParts }
  }

  private static func isWhole(_ file: DrivenFile) throws -> Bool {
    IntegrityCheck.run(try file.database.snapshot()).isClean
  }

  @Test func `objects are prepared as their parts come, and the last part shows them`() throws {
    let file = try DrivenFile(changes: 0)
    try file.begin()
    let parts = try Self.parts(file, [Array(1...200), Array(201...400), Array(401...600)])
    for (place, part) in parts.dropLast().enumerated() {
      #expect(try file.receive(.step(part)).isEmpty)
      #expect(try Self.prepared(file) == (place == 0 ? nil : 200 * place))
      #expect(try PlainObjects.texts(file.database).isEmpty)
      #expect(try Self.isWhole(file))
    }
    let actions = try file.receive(.step(parts[4]))
    #expect(actions.first == .applied(version: parts[4].to))
    #expect(try PlainObjects.texts(file.database).count == 600)
    #expect(try Self.prepared(file) == nil)
    #expect(try !Self.hasParts(file))
    #expect(try Self.isWhole(file))
  }

  @Test func `objects that were prepared are forgotten when a session begins again`() throws {
    let file = try DrivenFile(changes: 0)
    try file.begin()
    let parts = try Self.parts(file, [Array(1...200), Array(201...400)])
    for part in parts.prefix(2) { _ = try file.receive(.step(part)) }
    #expect(try Self.prepared(file) == 200)
    file.session.disconnected()
    #expect(try Self.hasParts(file))
    try file.begin()
    #expect(try Self.prepared(file) == nil)
    for part in parts { _ = try file.receive(.step(part)) }
    #expect(try PlainObjects.texts(file.database).count == 400)
    #expect(try Self.isWhole(file))
  }

  @Test func `a part that brings an object again replaces the one that was prepared`() throws {
    let file = try DrivenFile(changes: 0)
    try file.begin()
    var parts = try Self.parts(file, [Array(1...200), Array(150...400)])
    let text = PlainObjects.content(7, "as the last part has it")
    parts[3].objects.append(ObjectStep(PlainObjects.id(7), .whole(text)))
    for part in parts { _ = try file.receive(.step(part)) }
    let texts = try PlainObjects.texts(file.database)
    #expect(texts.count == 400)
    #expect(texts[7]?.contains("as the last part has it") == true)
    #expect(try Self.isWhole(file))
  }

  @Test func `long values of prepared objects are whole if the file makes the objects one by one`() throws {
    let file = try DrivenFile(changes: 0)
    try file.begin()
    var parts = try Self.parts(file, [Array(1...200)])
    // A server tells such an object by its values. The values here are much longer than a creation holds.
    let long = String(repeating: "very long ", count: 2_000)
    var changeset = PlainObjects.creations(Array(201...300))
    changeset.objects[50].instructions.append(PlainObjects.set("note", .string(long)))
    let creations: CreatedObjects = try #require(CreatedObjects(changeset.bytes))
    var part = parts[1]
    part.created = creations
    parts.insert(part, at: 2)
    for part in parts.dropLast() { _ = try file.receive(.step(part)) }
    #expect(try Self.prepared(file) == 300)
    try file.database.write { transaction in
      try transaction.setTime(file.time)
      _ = try PlainObjects.make(transaction).insert(["id": .int(1_000), "text": .string("mine")])
    }
    _ = try file.receive(.step(parts[3]))
    let texts = try PlainObjects.texts(file.database)
    #expect(texts.count == 301)
    #expect(texts[251]?.contains(long) == true && texts[251]?.contains("the object 251") == true)
    #expect(try Self.isWhole(file))
  }

  @Test func `links that wait for prepared objects find them when these are shown`() throws {
    let file = try DrivenFile(changes: 0)
    try file.begin()
    var step = try file.step()
    step.schema =
      PlainObjects.definitions + [
        .addTable("Owner", key: PropertyDefinition("id", .int64)),
        .addProperty(
          table: "Owner", PropertyDefinition("one", .link, target: PlainObjects.name, isOptional: true)),
        .addProperty(
          table: "Owner", PropertyDefinition("many", .link, collection: .list, target: PlainObjects.name)),
      ]
    var content: [Instruction] = [
      .create, .set(InstructionPath("one"), .link(PlainObjects.id(7)), isDefault: false),
    ]
    // One of the linked objects never comes.
    for (place, key) in ([9, 5_000, 8] as [Int64]).enumerated() {
      let (id, left) = (
        ElementID(replica: 1, counter: UInt32(place + 1)),
        place == 0 ? .none : ElementID(replica: 1, counter: UInt32(place))
      )
      content.append(
        .insert(InstructionPath("many"), id, left: left, right: .none, .link(PlainObjects.id(key))))
    }
    step.replicas = [0, 9]
    step.objects = [ObjectStep(ObjectName("Owner", .int(1)), .whole(content))]
    _ = try file.receive(.step(step))
    for part in try Self.parts(file, [Array(1...200), Array(201...400)]) { _ = try file.receive(.step(part)) }
    let snapshot = try file.database.snapshot()
    let (owners, plain) = (
      try #require(try snapshot.table("Owner")), try #require(try snapshot.table(PlainObjects.name))
    )
    func row(_ key: Int64) throws -> UInt64? { try plain.row(withPrimaryKey: .int(key)) }
    let owner = try #require(try owners.row(withPrimaryKey: .int(1)))
    let columns = try ["one", "many"].map { name in try #require(owners.schema.column(name)) }
    let one = try owners.value(columns[0], ofRow: owner)
    let seventh = try #require(try row(7))
    #expect(one == .link(seventh))
    let found = try [#require(try row(9)), #require(try row(8))].map { Value.link($0) }
    #expect(try owners.value(columns[1], ofRow: owner)?.elements == found)
    #expect(try Self.isWhole(file))
  }

  @Test func `a copy of a file that is made between two parts has nothing of the step`() throws {
    try withTemporaryPath { path in
      let file = try DrivenFile(changes: 0)
      try file.begin()
      _ = try file.receive(.step(file.step()))
      for part in try Self.parts(file, [Array(1...200), Array(201...400)]).prefix(2) {
        _ = try file.receive(.step(part))
      }
      #expect(try Self.prepared(file) == 200)
      try ClientCopy.write(file.database.snapshot(), to: path, like: path, encryptionKey: nil)
      var options = DatabaseOptions()
      options.history = .synced
      let copy = try Database(path: path, options: options)
      #expect(try copy.snapshot().hiddenTable(PlainObjects.name) == nil)
      #expect(IntegrityCheck.run(try copy.snapshot()).isClean)
      #expect(try Self.prepared(file) == 200)
    }
  }

  @Test func `an object that the program has deleted is not shown while the deletion is pending`() throws {
    let (one, other) = (try DrivenFile(changes: 0), try DrivenFile(changes: 0))
    var steps: [[Step]] = []
    for file in [one, other] {
      try file.begin()
      var step = try file.step()
      step.schema = PlainObjects.definitions
      step.objects = [ObjectStep(PlainObjects.id(5), .whole(PlainObjects.content(5)))]
      _ = try file.receive(.step(step))
      try file.database.write { transaction in
        try transaction.setTime(file.time)
        let table = try PlainObjects.make(transaction)
        try table.remove(try #require(try table.row(withPrimaryKey: .int(5))))
      }
      steps.append(try Self.parts(file, [Array(1...200), Array(201...400)]))
    }
    for part in steps[0] { _ = try one.receive(.step(part)) }
    _ = other.session.receive(.step(Self.joined(steps[1])), time: other.time)
    let shown = try PlainObjects.texts(one.database)
    #expect(try shown == PlainObjects.texts(other.database))
    #expect(shown[5] == nil && shown.count == 399)
    #expect(try Self.isWhole(one))
  }

  /// Writes into the file, as a program does while a step arrives.
  private static func write(_ file: DrivenFile, _ generator: inout SeededGenerator) throws {
    if generator.chance(50) { try file.write() }
    guard generator.chance(30) else { return }
    try file.database.write { transaction in
      try transaction.setTime(file.time)
      let table = try PlainObjects.make(transaction)
      let key = Value.int(Int64(1 + generator.below(400)))
      if let row = try table.row(withPrimaryKey: key) {
        if generator.chance(50) {
          try table.remove(row)
        } else {
          try table.set(.string("changed"), "text", ofRow: row)
        }
      } else {
        try table.insert(["id": key, "text": .string("mine \(generator.below(9))")])
      }
    }
  }

  @Test(arguments: Slow.seeds(60, slow: 3_000))
  func
    `a step whose objects are prepared leads where the same step in one piece does, whatever is written meanwhile`(
      seed: UInt64
    ) throws
  {
    let (one, other) = (try DrivenFile(changes: 1), try DrivenFile(changes: 1))
    var generator = SeededGenerator(seed: seed)
    let decides = generator.chance(30)
    let sent = [one, other].map { file in Result { try file.begin().uploads } }
    let uploads = try sent.map { try $0.get() }
    let isDecided = generator.chance(50)
    // Both files know the class, so that they write the same changes.
    for (file, uploads) in zip([one, other], uploads) {
      var step = isDecided ? try file.step(deciding: uploads) : try file.step()
      step.schema = PlainObjects.definitions
      _ = try file.receive(.step(step))
    }
    let keys = Array(Int64(1)...400).shuffled(using: &generator)
    let groups = [Array(keys[..<130]), Array(keys[130..<300]), Array(keys[300...])]
    let left = decides && !isDecided ? uploads : [[], []]
    let parts = try Self.parts(one, groups, deciding: left[0])
    let whole = Self.joined(try Self.parts(other, groups, deciding: left[1]))
    for (place, part) in parts.enumerated() {
      if place == parts.count - 1 {
        let first = other.session.receive(.step(whole), time: other.time)
        #expect(first.first == .applied(version: whole.to), "seed \(seed)")
      }
      let actions = one.session.receive(.step(part), time: one.time)
      #expect(actions.isEmpty == (place < parts.count - 1), "seed \(seed), part \(place)")
      guard place < parts.count - 1 else { continue }
      var again = generator
      try Self.write(one, &generator)
      try Self.write(other, &again)
    }
    #expect(try PlainObjects.texts(one.database) == PlainObjects.texts(other.database), "seed \(seed)")
    #expect(try one.texts() == other.texts(), "seed \(seed)")
    #expect(try one.pending() == other.pending(), "seed \(seed)")
    #expect(try Self.prepared(one) == nil, "seed \(seed)")
    for file in [one, other] { #expect(try Self.isWhole(file), "seed \(seed)") }
  }
}
