import RealmFuzzSupport
import RealmStorage
import RealmSync
import RealmSyncSupport

/// The decoders of parts of messages, and of what surrounds messages.
enum PartDecoders {
  static var all: [FuzzedDecoder] { [changeset, refusal, stepParts, channel] }

  private static var changeset: FuzzedDecoder {
    FuzzedDecoder("changeset") {
      var maker = MessageMaker(seed: 31)
      let made = (0..<300).map { _ in maker.changeset().bytes }
      return FuzzedDecoder.Trial(
        samples: try MessageReading.short(made) + NetworkCorpus.kept.samples("changeset"),
        mutator: ByteMutator(.binary), memory: MessageReading.plainMemory
      ) { bytes, _ in
        let changeset: Changeset
        do throws(ChangesetDamage) {
          changeset = try Changeset(bytes: bytes)
        } catch {
          guard (0...bytes.count).contains(error.offset) else {
            throw FuzzFailure("damage is told at byte \(error.offset) of \(bytes.count)")
          }
          return false
        }
        try RoundTrip.check(changeset.bytes) { try Changeset(bytes: $0).bytes }
        return true
      }
    }
  }

  private static var refusal: FuzzedDecoder {
    FuzzedDecoder("refusal") {
      var maker = MessageMaker(seed: 32)
      let made = (0..<300).flatMap { _ in maker.refusals().map(\.bytes) }
      return FuzzedDecoder.Trial(
        samples: try MessageReading.short(made) + NetworkCorpus.kept.samples("refusal"),
        mutator: ByteMutator(.binary), memory: MessageReading.plainMemory
      ) { bytes, _ in
        guard let refusal = Refusal(bytes: bytes) else { return false }
        try RoundTrip.check(refusal.bytes) { bytes in
          guard let again = Refusal(bytes: bytes) else { throw FuzzFailure("no refusal") }
          return again.bytes
        }
        return true
      }
    }
  }

  // MARK: - Steps of several parts

  /// An input has the bodies of the parts, each with its length before it.
  private static var stepParts: FuzzedDecoder {
    FuzzedDecoder("step-parts") {
      let bodies = MessageReading.short(MessageReading.steps().map(\.plainBytes))
      var generator = FuzzGenerator(seed: 33)
      let made = (0..<200).map { _ -> [UInt8] in
        (0...generator.below(3)).reduce(into: [UInt8]()) { bytes, _ in
          let body = generator.pick(bodies)
          bytes.appendVarint(UInt64(body.count))
          bytes += body
        }
      }
      return FuzzedDecoder.Trial(
        samples: try made + NetworkCorpus.kept.samples("step-parts"), mutator: ByteMutator(.binary),
        memory: MessageReading.plainMemory
      ) { bytes, generator in
        guard let parts = try partsOfOneStep(bytes, &generator) else { return false }
        try join(parts, &generator)
        return true
      }
    }
  }

  /// The parts, changed so that they belong to one step; nil if a part is refused.
  private static func partsOfOneStep(_ bytes: [UInt8], _ generator: inout FuzzGenerator) throws -> [Step]? {
    var reader = ByteReader(bytes)
    var parts: [Step] = []
    while parts.count < 8, let body = reader.counted() {
      let frame = BodyForm.plain.frame(BodyForm.step, Array(body))
      guard case .step(let step)? = try MessageReading.server(frame, &generator) else { return nil }
      parts.append(step)
    }
    guard let last = parts.last else { return nil }
    for place in parts.indices {
      (parts[place].from, parts[place].to, parts[place].tag) = (last.from, last.to, last.tag)
      (parts[place].querySet, parts[place].partition) = (last.querySet, last.partition)
      (parts[place].mark, parts[place].lastSequence) = (last.mark, last.lastSequence)
      parts[place].isLast = place == parts.count - 1
    }
    return parts
  }

  private static func join(_ parts: [Step], _ generator: inout FuzzGenerator) throws {
    guard let whole = try? Step(joining: parts) else {
      throw FuzzFailure("the parts of a step are not put together")
    }
    let objects = parts.flatMap(\.objects).map(\.name)
    guard whole.objects.map(\.name) == objects, whole.own.count == parts.map(\.own.count).reduce(0, +),
      whole.schema.count == parts.map(\.schema.count).reduce(0, +),
      whole.replicas.count <= parts.map(\.replicas.count).reduce(0, +)
    else { throw FuzzFailure("a step has not what its parts have") }
    for object in whole.objects { try check(object.change, replicas: whole.replicas.count) }
    guard parts.count > 1, generator.chance(20) else { return }
    var others = parts
    others[0].tag ^= 1
    guard (try? Step(joining: others)) == nil, (try? Step(joining: Array(parts.dropLast()))) == nil else {
      throw FuzzFailure("what are not all parts of one step are put together")
    }
  }

  /// Checks that each change was decided by a replica that the step names.
  private static func check(_ change: ObjectStep.Change, replicas: Int) throws {
    var deciders: [DecidedBy] = []
    switch change {
    case .whole, .left: break
    case .deleted(let decider): deciders = [decider]
    case .effects(let all):
      for case .others(let decider, _) in all { deciders.append(decider) }
    }
    guard deciders.allSatisfy({ $0.replica < replicas }) else {
      throw FuzzFailure("a replica decided that the step does not name")
    }
  }

  // MARK: - Channels

  /// The number of a channel with a frame after it. Both sides read it in this form.
  private static var channel: FuzzedDecoder {
    FuzzedDecoder("channel") {
      let frames = MessageReading.clientMessages().map(\.bytes)
      let made = frames.enumerated().map { place, frame -> [UInt8] in
        var bytes: [UInt8] = []
        bytes.appendVarint(UInt64(place) << UInt64(place % 50))
        return bytes + frame
      }
      return FuzzedDecoder.Trial(
        samples: try MessageReading.short(made) + NetworkCorpus.kept.samples("channel"),
        mutator: ByteMutator(.binary), memory: MessageReading.plainMemory
      ) { bytes, _ in
        guard let (number, frame) = numbered(bytes) else { return false }
        var written: [UInt8] = []
        written.appendVarint(number)
        try RoundTrip.check(written + frame) { bytes in
          guard let again = numbered(bytes) else { throw FuzzFailure("no channel") }
          return written.count + again.frame.count == bytes.count && again.number == number ? bytes : []
        }
        return true
      }
    }
  }

  private static func numbered(_ bytes: [UInt8]) -> (number: UInt64, frame: [UInt8])? {
    var reader = ByteReader(bytes)
    guard let number = reader.varint(), number > 0 else { return nil }
    return (number, Array(bytes.suffix(reader.count)))
  }
}
