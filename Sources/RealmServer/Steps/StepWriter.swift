import RealmStorage
import RealmSync

/// Writes what is told of objects into the parts of a step.
struct StepWriter {
  /// The part that is being made.
  var step: Step
  /// The number of parts that were made before it.
  private(set) var parts = 0
  /// The numbers of the replicas, by ordinal.
  private let replicas: [UInt64]
  private let partBytes: Int
  /// The indexes that replicas have in the current part, by ordinal.
  private var indexes: [UInt32: UInt32] = [0: 0]
  /// The size of the current part in bytes, about.
  private var bytes = 0

  /// - Parameters:
  ///   - step: a step without objects, whose fields all parts share.
  ///   - partBytes: the size of a part in bytes, about.
  init(_ step: Step, replicas: [UInt64], partBytes: Int) {
    (self.step, self.replicas, self.partBytes) = (step, replicas, partBytes)
    self.step.remainingBytes = .max
  }

  /// Whether the current part has so many bytes that the next object begins another part.
  var isFull: Bool { bytes >= partBytes }
  func isFull(_ bytes: Int) -> Bool { bytes >= partBytes }

  mutating func tell(_ name: ObjectName, _ change: ObjectStep.Change) {
    step.objects.append(ObjectStep(name, change))
    if partBytes != .max { bytes += change.size + 16 }
  }

  /// Returns the index of a replica in the current part. A replica that the part does not name yet gets the next index.
  mutating func index(_ ordinal: UInt32) -> UInt32 {
    if let known = indexes[ordinal] { return known }
    let index = UInt32(step.replicas.count)
    step.replicas.append(Int(ordinal) < replicas.count ? replicas[Int(ordinal)] : 0)
    indexes[ordinal] = index
    return index
  }

  /// Ends the current part, and begins another one.
  ///
  /// - Parameters:
  ///   - count: the greatest number of objects that may be told behind the part.
  ///   - created: the objects of the next part, if the size of what remains is estimated from them; nil if it is
  ///     estimated from the objects of the ended part.
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

  /// Makes a part of objects that were written already. The current part stays as it is.
  mutating func part(_ created: CreatedObjects, remaining count: Int) -> Step {
    estimate(count, of: created.count, created.bytes.count)
    var part = step
    (part.own, part.schema, part.replicas, part.objects) = ([], [], [0], [])
    part.created = created
    return part
  }

  /// Ends the last part of the step.
  mutating func finish() -> Step {
    (step.isLast, step.remainingObjects, step.remainingBytes) = (true, 0, 0)
    return step
  }

  /// Estimates what follows the part. The estimate never grows within a step.
  private mutating func estimate(_ remaining: Int, of objects: Int, _ bytes: Int) {
    step.isLast = false
    let least = step.remainingObjects == 0 ? UInt64.max : step.remainingObjects
    step.remainingObjects = min(least, UInt64(remaining))
    let rest = step.remainingObjects * UInt64(bytes / max(1, objects))
    step.remainingBytes = min(step.remainingBytes, rest)
  }
}

extension ObjectStep.Change {
  /// The size of the change in a message in bytes, about.
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
