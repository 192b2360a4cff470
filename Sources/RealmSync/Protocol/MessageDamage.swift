import RealmStorage

/// The limits that hold in every version, whatever limits a server tells.
package enum MessageLimit {
  /// The greatest number of bytes of a frame.
  package static let frameBytes = 24 << 20
  /// The greatest number of bytes of the body of an upload or a step after it is expanded.
  package static let bodyBytes = 32 << 20
  /// The greatest number of instructions of an upload, with their parts. A client cuts its changesets at 1 MiB, and
  /// each instruction takes at least one byte.
  package static let uploadInstructions = 1 << 20
  /// The greatest number of instructions of a part of a step, with their parts. A server cuts steps between objects,
  /// and one object may have many elements.
  package static let stepInstructions = 4 << 20
  /// The greatest number of parts of all lists of a message together, without its instructions: for messages of a
  /// client, and of a server.
  package static let clientParts = 1 << 20
  package static let serverParts = 4 << 20
  /// The greatest number of replicas that a message names.
  package static let replicas = 65_536
  /// The greatest number of replicas that the parts of a step name together, and that a client's file knows.
  package static let stepReplicas = 1 << 20
  /// A body with more bytes is compressed if that makes it smaller.
  package static let plainBodyBytes = 256
  /// The number of bytes of a hash.
  package static let hashBytes = 32
}

/// The error for bytes that are not a valid message.
package struct MessageDamage: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Reason: Sendable, Equatable {
    /// The bytes end before the field does, or fewer bytes are left than it promises.
    case endsEarly
    /// The reader does not know the message, and the message may not be skipped.
    case unknownMessage(number: UInt64)
    /// A number, length or count is above the limit at this place.
    case tooLarge(found: UInt64, limit: UInt64)
    /// A varint has more than 64 bits.
    case noNumber
    case notUTF8
    case hashLength(Int)
    /// A byte or number that tells a kind is not one of the known kinds.
    case unknownKind(UInt64)
    /// A list of replicas does not begin with 0.
    case firstReplica
    /// The bytes are not a value, or not a value that can stand here.
    case noValue
    /// The compressed bytes do not expand to the number of bytes that the message gives.
    case notCompressed
    /// The field contradicts the fields before it.
    case disagrees
    case changeset(ChangesetDamage)
  }

  /// The name of the field that can't be read.
  package var field: String
  /// The position at which the field begins, in the frame or in the expanded body.
  package var offset: Int
  /// True if the position is one in the expanded body.
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
