import RealmStorage

/// Limits that hold in every version, whatever a server tells of its own.
package enum MessageLimit {
  /// A frame has so many bytes at most.
  package static let frameBytes = 24 << 20
  /// The body of an upload or a step has so many bytes at most once it is expanded.
  package static let bodyBytes = 32 << 20
  /// An upload has so many instructions at most, with the parts of them. A client cuts its changesets at 1 MiB, and each instruction takes a byte at least.
  package static let uploadInstructions = 1 << 20
  /// A part of a step has so many at most. A server cuts steps between objects, and one object may have many elements.
  package static let stepInstructions = 4 << 20
  /// The lists of a message have so many parts at most, all together, beside the instructions.
  package static let clientParts = 1 << 20
  package static let serverParts = 4 << 20
  /// A message names so many replicas at most.
  package static let replicas = 65_536
  /// The parts of a step together name so many replicas at most, and a client's file knows so many.
  package static let stepReplicas = 1 << 20
  /// A body of more bytes is compressed where that makes it smaller.
  package static let plainBodyBytes = 256
  /// A hash has so many bytes.
  package static let hashBytes = 32
}

/// Bytes that are no message.
package struct MessageDamage: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Reason: Sendable, Equatable {
    /// The bytes end before the field does, or fewer are left than it promises.
    case endsEarly
    /// Nobody has told what the message means, and it may not be skipped.
    case unknownMessage(number: UInt64)
    /// A number, length or count is above what is allowed at this place.
    case tooLarge(found: UInt64, limit: UInt64)
    /// A varint has more than 64 bits.
    case noNumber
    case notUTF8
    case hashLength(Int)
    /// A byte or number that tells a kind is none that there is.
    case unknownKind(UInt64)
    /// A list of replicas does not begin with 0.
    case firstReplica
    /// The bytes are no value, or one that can't stand here.
    case noValue
    /// The compressed bytes do not expand to as many bytes as the message says.
    case notCompressed
    /// It says other than the fields before it.
    case disagrees
    case changeset(ChangesetDamage)
  }

  /// What can't be read.
  package var field: String
  /// The position at which it begins, in the frame or in the expanded body.
  package var offset: Int
  /// The position is one in the expanded body.
  package var isInBody: Bool
  package var reason: Reason

  package init(field: String, offset: Int, isInBody: Bool = false, _ reason: Reason) {
    (self.field, self.offset, self.isInBody, self.reason) = (field, offset, isInBody, reason)
  }

  package var description: String {
    if case .unknownMessage(let number) = reason {
      return "A message has the number \(number), which is not known here and may not be skipped."
    }
    let place = isInBody ? "byte \(offset) of the expanded body" : "byte \(offset)"
    return "A message is damaged: the field '\(field)' at \(place) \(complaint)"
  }

  private var complaint: String {
    switch reason {
    case .endsEarly: "is longer than the bytes that are left."
    case .unknownMessage(let number): "is \(number), which is not known here."
    case .tooLarge(let found, let limit): "is \(found), and at most \(limit) is allowed."
    case .noNumber: "is no number of 64 bits."
    case .notUTF8: "is no valid UTF-8."
    case .hashLength(let count): "has \(count) bytes, and a hash has \(MessageLimit.hashBytes)."
    case .unknownKind(let kind): "is \(kind), which is none of the numbers that are known."
    case .firstReplica: "does not begin with 0, the number that names no replica."
    case .noValue: "is no value that can stand there."
    case .notCompressed: "can't be expanded to the length that the message gives."
    case .disagrees: "does not agree with the fields before it."
    case .changeset(let damage): "can't be read. \(damage)"
    }
  }
}
