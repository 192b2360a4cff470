import RealmStorage
import RealmSync

/// Puts what is told of objects into the parts of a step.
struct StepWriter {
  /// The part that is being made.
  var step: Step
  /// The number of parts that were made before it.
  private(set) var parts = 0
  /// The numbers of replicas, by their ordinals.
  private let replicas: [UInt64]
  private let partBytes: Int
  /// The numbers in the part of the replicas, by their ordinals.
  private var indexes: [UInt32: UInt32] = [0: 0]
  /// Bytes of the part, about.
  private var bytes = 0

  /// - Parameters:
  ///   - step: without objects.
  ///   - partBytes: a part has so many bytes, about.
  init(_ step: Step, replicas: [UInt64], partBytes: Int) {
    (self.step, self.replicas, self.partBytes) = (step, replicas, partBytes)
    self.step.remainingBytes = .max
  }

  /// The part has so many bytes that the next object begins another one.
  var isFull: Bool { bytes >= partBytes }
  func isFull(_ bytes: Int) -> Bool { bytes >= partBytes }

  mutating func tell(_ name: ObjectName, _ change: ObjectStep.Change) {
    step.objects.append(ObjectStep(name, change))
    if partBytes != .max { bytes += change.size + 16 }
  }

  /// The number in the part of a replica. A new one gets the next.
  mutating func index(_ ordinal: UInt32) -> UInt32 {
    if let known = indexes[ordinal] { return known }
    let index = UInt32(step.replicas.count)
    step.replicas.append(Int(ordinal) < replicas.count ? replicas[Int(ordinal)] : 0)
    indexes[ordinal] = index
    return index
  }

  /// Ends the part, and begins another one.
  ///
  /// - Parameters:
  ///   - count: so many objects may be told behind it.
  ///   - created: the objects that come next tell how long those behind are; nil where those of the part tell that.
  mutating func cut(remaining count: Int, before created: CreatedObjects? = nil) -> Step {
    if let created {
      estimate(count, of: created.count, created.bytes.count)
      parts += 1
    } else {
      estimate(count, of: step.objects.count, bytes)
      parts += 1
    }
    let part = step
    (step.own, step.schema, step.replicas, step.objects) = ([], [], [0], [])
    (indexes, bytes) = ([0: 0], 0)
    return part
  }

  /// A part with objects that were written already, beside the one that is being made.
  mutating func part(_ created: CreatedObjects, remaining count: Int) -> Step {
    estimate(count, of: created.count, created.bytes.count)
    var part = step
    (part.own, part.schema, part.replicas, part.objects) = ([], [], [0], [])
    part.created = created
    return part
  }

  /// Ends the last part.
  mutating func finish() -> Step {
    (step.isLast, step.remainingObjects, step.remainingBytes) = (true, 0, 0)
    return step
  }

  /// What is still to come does not grow within a step.
  private mutating func estimate(_ remaining: Int, of objects: Int, _ bytes: Int) {
    step.isLast = false
    let least = step.remainingObjects == 0 ? UInt64.max : step.remainingObjects
    step.remainingObjects = min(least, UInt64(remaining))
    let rest = step.remainingObjects * UInt64(bytes / max(1, objects))
    step.remainingBytes = min(step.remainingBytes, rest)
  }
}

extension ObjectStep.Change {
  /// Bytes that it takes in a message, about.
  fileprivate var size: Int {
    switch self {
    case .effects(let all):
      all.reduce(0) { size, effects in
        guard case .others(_, let made) = effects else { return size + 8 }
        return made.reduce(size + 16) { $0 + $1.instruction.size }
      }
    case .whole(let instructions): instructions.reduce(0) { $0 + $1.size }
    case .left, .deleted: 8
    }
  }
}

extension Instruction {
  fileprivate var size: Int {
    switch self {
    case .set(_, let value, _), .setInsert(_, let value), .setErase(_, let value): 8 + value.size
    case .insert(_, _, _, _, let value): 16 + value.size
    default: 8
    }
  }
}

extension InstructionValue {
  fileprivate var size: Int {
    switch self {
    case .value(.string(let text)): text.utf8.count
    case .value(.data(let data)): data.count
    case .list(let values), .map(_, let values): values.reduce(8) { $0 + $1.size }
    default: 8
    }
  }
}
