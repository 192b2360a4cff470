import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct CreatedObjectsTests {
  /// Random creations of objects with values of properties.
  private struct Maker {
    var random: SeededGenerator

    mutating func name() -> String { ["Person", "name", "Straße", "", "x.y", "e\u{301}"][random.below(6)] }

    mutating func key() -> Value {
      switch random.below(5) {
      case 0: .null
      case 1: .int(Int64(bitPattern: random.next()))
      case 2: .string(name())
      case 3: .uuid(SixteenBytes(high: random.next(), low: random.next()))
      default: .objectID(ObjectIDBytes(random.bytes(12)))
      }
    }

    mutating func value() -> Value {
      switch random.below(10) {
      case 0: .bool(random.chance(50))
      case 1: .float(Float(bitPattern: UInt32(truncatingIfNeeded: random.next())))
      case 2: .double(Double(bitPattern: random.next()))
      case 3: .data(random.bytes(random.below(40)))
      case 4: .date(Timestamp(seconds: Int64(random.below(1_000)) - 500, nanoseconds: 999_999_999))
      case 5: .decimal128(SixteenBytes(high: random.next(), low: random.next()))
      case 6: .string(String(repeating: "音", count: random.below(60)))
      default: key()
      }
    }

    mutating func creation() -> ObjectInstructions {
      var instructions: [Instruction] = [.create]
      for _ in 0..<random.below(6) {
        let path = InstructionPath(name())
        instructions.append(.set(path, .value(value()), isDefault: random.chance(50)))
      }
      return ObjectInstructions(ObjectName(name(), key()), instructions)
    }

    /// A random changeset in which each object occurs once.
    mutating func changeset(most: Int = 8) -> Changeset {
      var changeset = Changeset()
      for _ in 0..<random.below(most) {
        let made = creation()
        if !changeset.objects.contains(where: { $0.id == made.id }) { changeset.objects.append(made) }
      }
      return changeset
    }

    /// The bytes with some of them changed, removed or added.
    mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
      var bytes = bytes
      for _ in 0...random.below(3) {
        let place = random.below(bytes.count)
        switch random.below(5) {
        case 0: bytes.remove(at: place)
        case 1: bytes.insert(contentsOf: random.bytes(1 + random.below(4)), at: place)
        case 2: bytes[place] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)]
        case 3: bytes[place] = ChangesetTag.object
        default: bytes[place] ^= 1 << UInt8(random.below(8))
        }
        if bytes.isEmpty { return [0] }
      }
      return bytes
    }
  }

  /// The creations in the form in which a changeset has them: each object once, with all its instructions.
  private static func joined(_ objects: [ObjectInstructions]) -> [ObjectInstructions] {
    var places: [ObjectName: Int] = [:]
    var joined: [ObjectInstructions] = []
    for object in objects {
      if let place = places[object.id] {
        joined[place].instructions += object.instructions
      } else {
        places[object.id] = joined.count
        joined.append(object)
      }
    }
    return joined
  }

  /// Whether the bytes are read as no creations, or as the same creations that `Changeset` reads.
  private static func isSound(_ bytes: [UInt8]) -> Bool {
    guard let created = CreatedObjects(bytes) else { return true }
    let objects = created.objects
    guard objects.count == created.count, created.bytes == bytes,
      let changeset = try? Changeset(bytes: bytes)
    else { return false }
    return changeset.schema.isEmpty && changeset.objects == joined(objects)
  }

  @Test(arguments: 0..<Slow.count(200, slow: 20_000))
  func `creations have the same objects as the changeset with the same bytes`(number: Int) throws {
    var maker = Maker(random: SeededGenerator(seed: UInt64(number)))
    let changeset = maker.changeset()
    let created = try #require(CreatedObjects(changeset.bytes), "seed \(number)")
    #expect(created.objects == changeset.objects, "seed \(number)")
    #expect(created.count == changeset.objects.count && created.bytes == changeset.bytes)
    #expect(created.message == nil)
  }

  @Test func `an object that is created twice occurs twice in the creations`() throws {
    let object = ObjectInstructions(ObjectName("T", .int(1)), [.create])
    var changeset = Changeset()
    changeset.objects = [object, object]
    let created = try #require(CreatedObjects(changeset.bytes))
    #expect(created.count == 2 && created.objects == [object, object])
  }

  // MARK: - What is none

  private static let path = InstructionPath("a")
  private static let id = ElementID(replica: 1, counter: 5)
  private static let otherValues: [InstructionValue] = [
    .absent, .link(ObjectName("T", .int(1))), .collection(.list), .list([]), .map([], []), .embedded,
    .chunked(hash: [UInt8](repeating: 1, count: 32), length: 5, isText: true),
    .chunked(hash: [UInt8](repeating: 1, count: 32), length: 5, isText: false),
    .value(.typedLink(table: 1, row: 1)), .value(.list([], id: 1)),
  ]
  private static let otherInstructions: [Instruction] = [
    .create, .delete, .add(path, 1), .newEmbedded(path), .killEmbedded(path),
    .insert(path, id, left: .none, right: .none, .value(.int(1))),
    .move(path, id, id: id, left: .none, right: .none), .erase(path, id),
    .setInsert(path, .value(.int(1))), .setErase(path, .value(.int(1))), .clear(path, .list),
    .ingest(["a"], [.value(.null)]),
    .set(InstructionPath("a", [.property("b")]), .value(.int(1)), isDefault: false),
    .set(InstructionPath("a", [.key("b")]), .value(.int(1)), isDefault: true),
  ]

  @Test(arguments: 0..<24) func `a changeset with an instruction of another kind is not read as creations`(
    index: Int
  ) {
    var others = Self.otherInstructions
    for value in Self.otherValues { others.append(.set(Self.path, value, isDefault: false)) }
    #expect(others.count == 24)
    let other = others[index]
    let set = Instruction.set(Self.path, .value(.int(1)), isDefault: false)
    var changeset = Changeset()
    for instructions in [[.create, other], [.create, set, other, set], [other]] as [[Instruction]] {
      // An object with this instruction alone is a valid creation.
      if instructions == [.create] { continue }
      for place in 0..<3 {
        changeset.objects = (0..<3).map { number in
          ObjectInstructions(ObjectName("T", .int(Int64(number))), number == place ? instructions : [.create])
        }
        #expect(CreatedObjects(changeset.bytes) == nil, "\(instructions) in object \(place)")
      }
    }
  }

  @Test func `a changeset with definitions, runs of elements or uncreated objects is not read as creations`()
    throws
  {
    let set = Instruction.set(Self.path, .value(.int(1)), isDefault: false)
    let name = ObjectName("T", .int(1))
    for instructions in [[], [set], [set, .create]] as [[Instruction]] {
      var changeset = Changeset()
      changeset.objects = [ObjectInstructions(name, instructions)]
      #expect(CreatedObjects(changeset.bytes) == nil, "\(instructions)")
    }
    var changeset = Changeset()
    changeset.objects = [ObjectInstructions(name, [.create])]
    #expect(CreatedObjects(changeset.bytes) != nil)
    for definition in [
      .addTable("T", key: nil), .addTable("T", key: PropertyDefinition("id", .int64)),
      .addProperty(table: "T", PropertyDefinition("a", .string)),
    ] as [SchemaInstruction] {
      changeset.schema = [definition]
      #expect(CreatedObjects(changeset.bytes) == nil, "\(definition)")
    }
    changeset.schema = []
    let next = ElementID(replica: 1, counter: 6)
    changeset.objects[0].instructions += [
      .insert(Self.path, Self.id, left: .none, right: .none, .value(.int(1))),
      .insert(Self.path, next, left: Self.id, right: .none, .value(.int(2))),
    ]
    #expect(CreatedObjects(changeset.bytes) == nil)
    // A changeset without objects is read as no creations, and bytes that are no changeset are refused.
    #expect(CreatedObjects(Changeset().bytes)?.objects == [])
    #expect(CreatedObjects([]) == nil)
  }

  // MARK: - Damage

  @Test(arguments: 0..<Slow.count(40, slow: 3_000))
  func `damaged bytes are refused, or give the creations that the changeset has`(number: Int) {
    var maker = Maker(random: SeededGenerator(seed: UInt64(number)))
    let bytes = maker.changeset(most: 4).bytes
    for end in 0..<bytes.count {
      #expect(CreatedObjects(Array(bytes[..<end])) == nil, "seed \(number), \(end) bytes")
    }
    #expect(CreatedObjects(bytes + [0]) == nil, "seed \(number)")
    for place in bytes.indices {
      for bit in 0..<8 {
        var damaged = bytes
        damaged[place] ^= 1 << UInt8(bit)
        #expect(Self.isSound(damaged), "seed \(number), byte \(place), bit \(bit)")
      }
    }
    for time in 0..<300 {
      #expect(Self.isSound(maker.damaged(bytes)), "seed \(number), damaged the \(time + 1)th time")
    }
  }

  @Test func `counts and lengths that exceed the bytes are refused`() {
    let most: [UInt8] = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]
    let tooMany: [UInt8] = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]
    let text = ColumnType.string.rawValue
    let start: [UInt8] = [1, 1, 0x61, ChangesetTag.object]
    let created = start + [0, 0, ChangesetTag.create]
    for number in [most, tooMany] {
      #expect(CreatedObjects(number) == nil)
      #expect(CreatedObjects([1] + number) == nil)
      #expect(CreatedObjects(start + number) == nil)
      #expect(CreatedObjects(start + [0, text] + number) == nil)
      #expect(CreatedObjects(created + [ChangesetTag.set] + number) == nil)
      #expect(CreatedObjects(created + [ChangesetTag.set, 0] + number) == nil)
      #expect(CreatedObjects(created + [ChangesetTag.set, 0, 0, text] + number) == nil)
    }
    // The first bytes name a class that does not exist. The others hold a text that is not UTF-8.
    #expect(CreatedObjects(start + [1, 0, ChangesetTag.create, ChangesetTag.end]) == nil)
    #expect(CreatedObjects(created + [ChangesetTag.set, 0, 0, text, 1, 0xff, ChangesetTag.end]) == nil)
    #expect(CreatedObjects(created + [ChangesetTag.set, 0, 0, text, 1, 0x62, ChangesetTag.end]) != nil)
  }
}
