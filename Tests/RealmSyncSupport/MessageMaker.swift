import RealmStorage
import RealmSync
import RealmTestSupport

/// Random messages, with every kind of part that they may have.
package struct MessageMaker {
  package var random: SeededGenerator

  package init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  // MARK: - Parts

  private mutating func several<Part>(_ most: Int = 4, _ make: (inout Self) -> Part) -> [Part] {
    (0..<random.below(most + 1)).map { _ in make(&self) }
  }

  package mutating func number() -> UInt64 {
    switch random.below(4) {
    case 0: UInt64(random.below(3))
    case 1: UInt64(random.below(100_000))
    case 2: .max - UInt64(random.below(2))
    default: random.next() >> UInt64(random.below(64))
    }
  }

  /// The number of a message that may be skipped and that neither side knows.
  private mutating func unknownNumber() -> UInt64 {
    let drawn = number() | 1
    return [23, 25].contains(drawn) ? 41 : drawn
  }

  private mutating func number32() -> UInt32 { UInt32(truncatingIfNeeded: number()) }
  private mutating func stamp() -> Stamp { Stamp(word: random.next()) }
  private mutating func hash() -> [UInt8] { random.bytes(32) }

  private mutating func text() -> String {
    let long = String(repeating: "long ", count: 40)
    return ["Person", "name", "Straße", "", "x.y", "日本語", long][random.below(7)]
  }

  private mutating func key() -> Value {
    switch random.below(5) {
    case 0: .null
    case 1: .int(Int64(bitPattern: random.next()))
    case 2: .string(text())
    case 3: .uuid(SixteenBytes(high: random.next(), low: random.next()))
    default: .objectID(ObjectIDBytes(random.bytes(12)))
    }
  }

  private mutating func value() -> Value {
    switch random.below(8) {
    case 0: .bool(random.chance(50))
    case 1: .float(Float(bitPattern: UInt32(truncatingIfNeeded: random.next())))
    case 2: .double(Double(bitPattern: random.next()))
    case 3: .data(random.bytes(random.below(40)))
    case 4: .date(Timestamp(seconds: Int64(random.below(1_000)) - 500, nanoseconds: 999_999_999))
    case 5: .decimal128(SixteenBytes(high: random.next(), low: random.next()))
    default: key()
    }
  }

  private mutating func partition() -> Value? { random.chance(50) ? value() : nil }
  private mutating func object() -> ObjectName { ObjectName(text(), key()) }

  // MARK: - Instructions

  private mutating func id() -> ElementID {
    if random.chance(20) { return .none }
    return ElementID(
      replica: UInt32(random.below(300)), counter: UInt32(truncatingIfNeeded: random.next()))
  }

  private mutating func kind() -> CollectionKind { [.list, .map, .set][random.below(3)] }

  private mutating func path() -> InstructionPath {
    InstructionPath(
      text(),
      several { maker in
        switch maker.random.below(4) {
        case 0: .property(maker.text())
        case 1: .key(maker.text())
        case 2: .element(maker.id())
        default: .collection(maker.kind(), made: maker.random.chance(50) ? nil : 7)
        }
      })
  }

  private mutating func content() -> InstructionValue {
    switch random.below(9) {
    case 0: .absent
    case 1: .link(object())
    case 2: .collection(kind())
    case 3: .list([.value(value()), .list([.link(object())])])
    case 4: .map(["a", "b"], [.value(value()), .map([], [])])
    case 5: .embedded
    case 6: .chunked(hash: hash(), length: 1 << 20, isText: random.chance(50))
    default: .value(value())
    }
  }

  private mutating func instructions() -> [Instruction] {
    switch random.below(14) {
    case 0: return [.create]
    case 1: return [.delete]
    case 2: return [.set(path(), content(), isDefault: random.chance(50))]
    case 3: return [.add(path(), Int64(bitPattern: random.next()))]
    case 4: return [.newEmbedded(path())]
    case 5: return [.killEmbedded(path())]
    case 6: return [.insert(path(), id(), left: id(), right: id(), content())]
    case 7: return run()
    case 8: return [.move(path(), id(), id: id(), left: id(), right: id())]
    case 9: return [.erase(path(), id())]
    case 10: return [.setInsert(path(), content())]
    case 11: return [.setErase(path(), content())]
    case 12: return [.clear(path(), kind())]
    default:
      let values = several { $0.content() }
      return [.ingest(values.map { _ in text() }, values)]
    }
  }

  /// The instructions that append some elements. The encoding joins them into one item.
  private mutating func run() -> [Instruction] {
    let (path, right, start) = (path(), id(), UInt32(random.below(1_000)))
    var left = id()
    return (0..<UInt32(2 + random.below(9))).map { place in
      let id = ElementID(replica: 1, counter: start + place)
      defer { left = id }
      return .insert(path, id, left: left, right: right, content())
    }
  }

  private mutating func manyInstructions() -> [Instruction] { several { $0.instructions() }.flatMap(\.self) }

  private mutating func schema() -> [SchemaInstruction] {
    several(2) { maker in
      let property = PropertyDefinition(
        maker.text(), ColumnType.allCases[maker.random.below(ColumnType.allCases.count)],
        collection: maker.random.chance(50) ? nil : maker.kind(),
        target: maker.random.chance(50) ? nil : maker.text(), isOptional: maker.random.chance(50))
      return switch maker.random.below(3) {
      case 0: .addTable(maker.text(), key: nil)
      case 1: .addTable(maker.text(), key: property)
      default: .addProperty(table: maker.text(), property)
      }
    }
  }

  package mutating func changeset() -> Changeset {
    var changeset = Changeset()
    changeset.schema = schema()
    for object in objects() {
      changeset.objects.append(ObjectInstructions(object, manyInstructions()))
    }
    return changeset
  }

  /// Names that all differ.
  private mutating func objects() -> [ObjectName] {
    var seen: Set<ObjectName> = []
    return several(6) { $0.object() }.filter { seen.insert($0).inserted }
  }

  private mutating func replicas() -> [UInt64] { [0] + several { $0.number() } }

  // MARK: - Steps

  private mutating func order(_ left: ElementID) -> ElementOrder? {
    switch random.below(4) {
    case 0: nil
    case 1: ElementOrder(dead: .none, parent: left, isLeftOfParent: false, left: left)
    default:
      ElementOrder(
        dead: id(), parent: random.chance(50) ? left : id(), isLeftOfParent: random.chance(50),
        left: random.chance(50) ? left : id(), isLost: random.chance(50))
    }
  }

  private mutating func effects() -> [Effect] {
    manyInstructions().map { instruction in
      switch instruction {
      case .insert(_, _, let left, _, _), .move(_, _, _, let left, _):
        Effect(instruction, order: order(left))
      default: Effect(instruction)
      }
    }
  }

  private mutating func change(_ deciders: [DecidedBy]) -> ObjectStep.Change {
    switch random.below(deciders.isEmpty ? 2 : 5) {
    case 0: return .left
    case 1: return .whole(manyInstructions())
    case 2: return .deleted(deciders[random.below(deciders.count)])
    default:
      return .effects(
        several { maker in
          maker.random.chance(30)
            ? .own(sequence: maker.number())
            : .others(deciders[maker.random.below(deciders.count)], maker.effects())
        })
    }
  }

  package mutating func step() -> Step {
    var step = Step(
      from: number(), to: number(), tag: random.next(), querySet: number(), partition: partition(),
      mark: stamp(), lastSequence: number())
    step.own = several { maker in
      OwnChangeset(
        sequence: maker.number(), version: maker.number(), stamp: maker.stamp(), hash: maker.hash(),
        refusals: maker.refusals())
    }
    step.schema = schema()
    step.replicas = replicas()
    let replicas = step.replicas.count
    let deciders = several { maker in
      DecidedBy(
        version: maker.number(), stamp: maker.stamp(), replica: UInt32(maker.random.below(replicas)))
    }
    step.objects = objects().map { ObjectStep($0, change(deciders)) }
    step.isLast = random.chance(50)
    (step.remainingObjects, step.remainingBytes) = (number(), number())
    return step
  }

  package mutating func refusals() -> [Refusal] {
    several { maker in
      let subject: Refusal.Subject =
        switch maker.random.below(3) {
        case 0: .object(maker.object())
        case 1: .table(maker.text())
        default: .property(table: maker.text(), maker.text())
        }
      let reasons: [Refusal.Reason] = [.keyInUse, .outsideQuerySet, .notPermitted, .schemaMismatch]
      return Refusal(subject: subject, reason: reasons[maker.random.below(4)])
    }
  }

  // MARK: - Messages

  private mutating func named() -> NamedChangeset { NamedChangeset(sequence: number(), hash: hash()) }

  package mutating func upload() -> UploadMessage {
    UploadMessage(
      sequence: number(), previous: random.chance(30) ? [] : hash(), base: number(), stamp: stamp(),
      querySet: number(), isAllOrNothing: random.chance(50), replicas: replicas(), changeset: changeset())
  }

  private mutating func chunk() -> ValueChunk {
    let (bytes, offset) = (random.bytes(random.below(300)), UInt64(random.below(1 << 20)))
    return ValueChunk(
      hash: hash(), offset: offset, length: offset + UInt64(bytes.count + random.below(9)), bytes: bytes)
  }

  private mutating func hello() -> Hello {
    let ends = [number32(), number32()].sorted()
    return Hello(
      versions: ends[0]...ends[1], capabilities: several { $0.text() },
      replica: random.chance(50) ? number() : nil, partition: partition())
  }

  private mutating func welcome() -> Welcome {
    let registered = Welcome.Registered(
      replica: random.next(), version: number(), tag: random.next(), mark: stamp(), sessionNumber: number())
    let answer: Welcome.Answer =
      switch random.below(3) {
      case 0: .known(sessionNumber: number())
      case 1: .registered(registered)
      default:
        .reset(
          Welcome.Reset(
            registered: registered, integrated: several { $0.named() }, refusals: refusals(),
            isInDoubt: random.chance(50)))
      }
    return Welcome(
      version: number32(), capabilities: several { $0.text() }, answer: answer,
      limits: Welcome.Limits(
        changesetBytes: number(), valueBytes: number(), querySets: number32(), bytesUnderWay: number(),
        firstWait: number32(), longestWait: number32()), time: number(),
      partitionProperty: random.chance(50) ? text() : nil)
  }

  package mutating func clientMessage() -> ClientMessage {
    switch random.below(8) {
    case 0: return .hello(hello())
    case 1:
      return .start(
        SessionStart(
          version: number(), tag: random.next(), sessionNumber: number(), querySet: number(),
          wanted: number(), last: random.chance(50) ? named() : nil, pending: several { $0.named() },
          leastBase: random.chance(50) ? number() : nil))
    case 2:
      let queries = several { maker in QuerySet.Query(table: maker.text(), predicate: maker.text()) }
      return .querySet(QuerySet(number: number(), queries: queries))
    case 3: return .chunk(chunk())
    case 4: return .mark(request: number())
    case 5: return random.chance(50) ? .retire(replica: number()) : .skipped(number: unknownNumber())
    default: return .upload(upload())
    }
  }

  package mutating func serverMessage() -> ServerMessage {
    switch random.below(9) {
    case 0, 1: .welcome(welcome())
    case 2: .querySetRefused(number: number(), code: number32(), text: text())
    case 3: .chunk(chunk())
    case 4: .mark(request: number(), version: number())
    case 5: random.chance(50) ? .retired(replica: number()) : .skipped(number: unknownNumber())
    case 6:
      .error(
        ProtocolError(
          code: number32(), text: text(),
          action: [.tryLater, .logIn, .updateApp, .reset, .stop][random.below(5)], wait: number32()))
    default: .step(step())
    }
  }

  // MARK: - Damage

  /// The given bytes with random changes in one to three places.
  package mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
    var made = bytes
    for _ in 0...random.below(3) where !made.isEmpty {
      let place = random.below(made.count)
      switch random.below(7) {
      case 0, 1: made[place] ^= 1 << UInt8(random.below(8))
      case 2: made[place] = [0, 1, 2, 3, 0x7f, 0x80, 0xff][random.below(7)]
      case 3: made.removeSubrange(place..<min(made.count, place + 1 + random.below(4)))
      case 4: made.insert(contentsOf: random.bytes(1 + random.below(3)), at: place)
      case 5:
        // The greatest number of 64 bits, or a number with one more bit.
        made.insert(contentsOf: [UInt8](repeating: 0xff, count: 9) + [random.chance(50) ? 1 : 3], at: place)
      default: made.insert(contentsOf: made[place..<min(made.count, place + 1 + random.below(20))], at: place)
      }
    }
    return made
  }
}
