import RealmStorage
import RealmSync
import RealmSyncSupport
import RealmTestSupport

/// Changes what one side says in a conversation: the bytes and the order of its messages, and their fields.
struct FrameChanges {
  var generator: SeededGenerator
  /// Messages of this side in other conversations.
  let others: [[UInt8]]
  /// True if the side is a client.
  let isUpward: Bool

  mutating func changed(_ frames: [[UInt8]]) -> [[UInt8]] {
    var made: [[UInt8]] = []
    for frame in frames { made.append(generator.chance(85) ? PlainFrame.of(frame) : frame) }
    if !isUpward, generator.chance(15) { reset(&made) }
    if !isUpward, generator.chance(10) { undecide(&made) }
    for _ in 0...generator.below(3) where !made.isEmpty { change(&made) }
    return made
  }

  private mutating func change(_ frames: inout [[UInt8]]) {
    let place = generator.below(frames.count)
    let (frame, other) = (frames[place], PlainFrame.of(others[generator.below(others.count)]))
    switch generator.below(14) {
    case 0: frames.remove(at: place)
    case 1: frames.insert(frame, at: generator.below(frames.count + 1))
    case 2: frames.swapAt(place, generator.below(frames.count))
    case 3: frames.insert(other, at: place)
    case 4: frames[place] = other
    case 5:
      // This frame has the beginning of one message and the end of another.
      let end = other.suffix(generator.below(other.count + 1))
      frames[place] = Array(frame.prefix(generator.below(frame.count + 1))) + end
    case 6, 7, 8, 9: frames[place] = withOtherField(frame)
    default: frames[place] = ByteChanges.changed(frame, &generator)
    }
  }

  private mutating func number() -> UInt64 { extremeValue(&generator) }

  /// The message with another value in a field. Bytes that are not a message are returned unchanged.
  private mutating func withOtherField(_ frame: [UInt8]) -> [UInt8] {
    if isUpward {
      guard let message = try? ClientMessage(bytes: frame) else { return frame }
      return other(message).bytes
    }
    guard let message = try? ServerMessage(bytes: frame) else { return frame }
    return other(message).bytes
  }

  // MARK: - What clients say

  private mutating func other(_ message: ClientMessage) -> ClientMessage {
    switch message {
    case .hello(var hello):
      if generator.chance(50) { hello.replica = number() } else { hello.partition = .int(1) }
      return .hello(hello)
    case .start(let start): return .start(other(start))
    case .querySet(var set):
      set.number = generator.chance(50) ? number() : set.number
      set.queries.append(QuerySet.Query(table: "Part", predicate: generator.chance(50) ? "r == 1" : "q IN {"))
      return .querySet(set)
    case .upload(let upload): return .upload(other(upload))
    case .mark, .retire, .chunk, .skipped: return .mark(request: number())
    }
  }

  private mutating func other(_ start: SessionStart) -> SessionStart {
    var start = start
    switch generator.below(8) {
    case 0: start.version = number()
    case 1: start.tag ^= 1
    case 2: start.sessionNumber = number()
    case 3: start.querySet = UInt64(generator.below(4))
    case 4: start.wanted = number()
    case 5: start.last?.sequence = number()
    case 6: if !start.pending.isEmpty { start.pending.removeLast() }
    default: start.leastBase = number()
    }
    return start
  }

  private mutating func other(_ upload: UploadMessage) -> UploadMessage {
    var upload = upload
    switch generator.below(9) {
    case 0: upload.sequence = number()
    case 1: upload.base = number()
    case 2: upload.stamp = Stamp(word: number())
    case 3: upload.querySet = UInt64(generator.below(4))
    case 4: upload.replicas = [0]
    case 5: upload.replicas.append(number())
    case 6: upload.previous = []
    case 7: upload.changeset.objects.reverse()
    default:
      for place in upload.changeset.objects.indices {
        upload.changeset.objects[place].instructions = withOtherIDs(
          upload.changeset.objects[place].instructions)
      }
    }
    return upload
  }

  // MARK: - What servers say

  private mutating func other(_ message: ServerMessage) -> ServerMessage {
    switch message {
    case .welcome(var welcome):
      switch generator.below(4) {
      case 0: welcome.time = number()
      case 1: welcome.limits.bytesUnderWay = UInt64(generator.below(3))
      case 2: welcome.answer = .known(sessionNumber: number())
      default: welcome.answer = .registered(Self.registered(number()))
      }
      return .welcome(welcome)
    case .step(let step): return .step(other(step))
    case .querySetRefused, .chunk, .mark, .retired, .error, .skipped:
      return .querySetRefused(number: number(), code: 201, text: "no")
    }
  }

  private mutating func other(_ step: Step) -> Step {
    var step = step
    switch generator.below(14) {
    case 0: step.from = number()
    case 1: step.to = number()
    case 2: step.tag = number()
    case 3: step.querySet = UInt64(generator.below(4))
    case 4: step.mark = Stamp(word: number())
    case 5: step.lastSequence = number()
    case 6: step.schema.reverse()
    case 7: step.isLast.toggle()
    case 8: step.replicas.append(number())
    case 9: if !step.objects.isEmpty { step.objects.removeLast() }
    case 10: step.objects.reverse()
    default:
      for place in step.objects.indices where generator.chance(50) { change(&step.objects[place]) }
    }
    return step
  }

  private mutating func change(_ object: inout ObjectStep) {
    switch (generator.below(6), object.change) {
    case (0, _): object.change = .left
    case (1, _): object.change = .whole(withOtherIDs(Self.content(object.change)))
    case (_, .effects(let all)):
      var made: [ObjectEffects] = []
      for effects in all {
        guard case .others(let decided, let found) = effects else {
          made.append(effects)
          continue
        }
        let instructions = withOtherIDs(found.map(\.instruction))
        made.append(.others(decided, zip(instructions, found).map { Effect($0, order: $1.order) }))
      }
      object.change = .effects(made)
    case (_, .whole(let content)): object.change = .whole(withOtherIDs(content))
    case (_, .left), (_, .deleted): object.change = .whole([.create])
    }
  }

  /// Makes the server reset the file and send whole objects.
  private mutating func reset(_ frames: inout [[UInt8]]) {
    let version = UInt64(1 + generator.below(50))
    for place in frames.indices {
      switch try? ServerMessage(bytes: frames[place]) {
      case .welcome(var welcome)?:
        welcome.answer = .reset(
          Welcome.Reset(registered: Self.registered(version), isInDoubt: generator.chance(50)))
        frames[place] = ServerMessage.welcome(welcome).bytes
      case .step(var step)?:
        (step.from, step.to) = (version, max(step.to, version))
        step.objects = step.objects.map { ObjectStep($0.name, .whole(Self.content($0.change))) }
        frames[place] = ServerMessage.step(step).bytes
      default: break
      }
    }
  }

  /// Removes from the steps that changesets of the client were decided, but keeps their effects.
  private func undecide(_ frames: inout [[UInt8]]) {
    var last: UInt64?
    for place in frames.indices {
      guard case .step(var step)? = try? ServerMessage(bytes: frames[place]) else { continue }
      if last == nil, let first = step.own.first { last = first.sequence &- 1 }
      (step.own, step.lastSequence) = ([], last ?? step.lastSequence)
      frames[place] = ServerMessage.step(step).bytes
    }
  }

  private static func registered(_ version: UInt64) -> Welcome.Registered {
    Welcome.Registered(
      replica: 4343, version: version, tag: 5, mark: Stamp(milliseconds: SyncedWorld.start), sessionNumber: 9)
  }

  /// The instructions that make an object that is sent whole. Effects of others on an object do not fit an empty
  /// object.
  private static func content(_ change: ObjectStep.Change) -> [Instruction] {
    if case .whole(let content) = change { content } else { [.create] }
  }

  // MARK: - Ids of elements

  /// The instructions with other ids of elements and positions. The new ids may be in use elsewhere.
  private mutating func withOtherIDs(_ instructions: [Instruction]) -> [Instruction] {
    var generator = self.generator
    defer { self.generator = generator }
    return instructions.map { instruction in
      instruction.mapElements { id in
        guard id != .none, generator.chance(40) else { return id }
        return ElementID(replica: UInt32(generator.below(3)), counter: UInt32(1 + generator.below(12)))
      }
    }
  }
}
