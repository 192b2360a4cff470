import RealmStorage
import RealmSync
import RealmTestSupport
import Testing

/// Parts of steps whose objects are sent as the bytes of their creation.
@Suite struct CreatedStepTests {
  /// A part with a number of objects that is not the last part of its step.
  private static func part(_ count: Int64) throws -> Step {
    var step = Step(
      from: 3, to: 9, tag: 5, querySet: 1, partition: .int(4), mark: Stamp(milliseconds: 1_000),
      lastSequence: 2)
    (step.isLast, step.remainingObjects, step.remainingBytes) = (false, 100, 20_000)
    let creations: CreatedObjects = try #require(CreatedObjects(PlainObjects.creations(1...count).bytes))
    step.created = creations
    return step
  }

  private static func read(_ bytes: [UInt8]) throws(MessageDamage) -> Step? {
    if case .step(let step) = try ServerMessage(bytes: bytes) { step } else { nil }
  }

  @Test func `many objects are read as the bytes of their creation, and a few objects as values`() throws {
    for count in [1, 100, 400, 3_000] as [Int64] {
      let part = try Self.part(count)
      let bytes = ServerMessage.step(part).bytes
      let read = try #require(try Self.read(bytes))
      let isLong = (part.created?.bytes.count ?? 0) >= 16 << 10
      #expect(isLong == (count >= 400) && (read.created != nil) == isLong)
      if isLong {
        #expect(read == part && read.created?.message == bytes)
        #expect(read.objects.isEmpty)
      }
      #expect(read.objectCount == Int(count) && part.objectCount == Int(count))
      #expect(read.expanded == part.expanded)
      // The same objects are read if they are sent as values.
      let values = try #require(try Self.read(ServerMessage.step(part.expanded).bytes))
      #expect(values.expanded == part.expanded)
    }
  }

  @Test func `a part with any other change of an object is read as values`() throws {
    var step = try Self.part(400).expanded
    let decided = DecidedBy(version: 7, stamp: Stamp(milliseconds: 900), replica: 0)
    let effects = step.objects.map { (object: ObjectStep) -> ObjectStep in
      guard case .whole(let content) = object.change else { return object }
      return ObjectStep(object.name, .effects([.others(decided, content.map { Effect($0) })]))
    }
    let whole = step.objects
    var (first, last) = (whole, whole)
    (first[0], last[399]) = (effects[0], effects[399])
    for objects in [effects, first, last] {
      step.objects = objects
      let read = try #require(try Self.read(ServerMessage.step(step).bytes))
      #expect(read.created == nil && read == step)
    }
    let gone = ObjectStep(PlainObjects.id(9_000), .left)
    let deleted = ObjectStep(PlainObjects.id(9_000), .deleted(decided))
    for other in [gone, deleted] {
      step.objects = whole + [other]
      let read = try #require(try Self.read(ServerMessage.step(step).bytes))
      #expect(read.created == nil && read == step)
    }
    step.objects = whole
    step.schema = PlainObjects.definitions
    let read = try #require(try Self.read(ServerMessage.step(step).bytes))
    #expect(read.created == nil && read == step)
  }

  @Test func `a kind of change that does not fit a creation is damage`() throws {
    let body = try Self.part(400).plainBytes
    #expect(try Self.read([14, 0] + body)?.created != nil)
    for kind in [0, 2, 3, 9] as [UInt8] {
      var damaged = body
      damaged[damaged.count - 1] = kind
      #expect(throws: MessageDamage.self) { try ServerMessage(bytes: [14, 0] + damaged) }
    }
    #expect(throws: MessageDamage.self) { try ServerMessage(bytes: [14, 0] + Array(body.dropLast())) }
  }

  @Test func `a part that is cut or damaged is refused, or is read as another part`() throws {
    var random = SeededGenerator(seed: 1)
    let plain = try [14, 0] + Self.part(400).plainBytes
    for _ in 0..<Slow.count(200, slow: 20_000) {
      var frame = plain
      switch random.below(3) {
      case 0: frame.removeLast(1 + random.below(frame.count - 1))
      case 1: frame[random.below(frame.count)] ^= 1 << UInt8(random.below(8))
      default: frame.insert(UInt8(random.below(256)), at: random.below(frame.count))
      }
      guard let read = try? ServerMessage(bytes: frame) else { continue }
      #expect(try ServerMessage(bytes: read.bytes) == read)
      if case .step(let step) = read { #expect(step.objectCount == step.expanded.objects.count) }
    }
  }
}
