import RealmStorage

/// What brings a client from one version of the log to another, and from one view to another.
///
/// A step may come in several parts, which are applied together. An object stands in one part of a step.
package struct Step: Sendable, Equatable {
  /// The version that the client has.
  package var from: UInt64
  /// The version that it has then, and the tag of that entry of the log.
  package var to: UInt64
  package var tag: UInt64
  /// The number of the query set that the view is cut with then.
  package var querySet: UInt64
  /// The partition of the replica; nil of one without, and from the time on when it became an ordinary filter.
  package var partition: Value?
  /// The latest stamp of all up to the version.
  package var mark: Stamp
  /// The sequence of the last changeset of the client that was decided.
  package var lastSequence: UInt64
  package var own: [OwnChangeset] = []
  package var schema: [SchemaInstruction] = []
  /// The numbers of the replicas that ids of elements and effects name, by their numbers in the step. The first is 0, which names none.
  package var replicas: [UInt64] = [0]
  package var objects: [ObjectStep] = []
  /// Objects that are told whole, of which no values were made yet. A part with them has no other objects, names no replicas and has no definitions.
  package var created: CreatedObjects?
  package var isLast = true
  /// What is still to come, about. It does not grow within a step.
  package var remainingObjects: UInt64 = 0
  package var remainingBytes: UInt64 = 0

  package init(
    from: UInt64, to: UInt64, tag: UInt64, querySet: UInt64, partition: Value?, mark: Stamp,
    lastSequence: UInt64
  ) {
    (self.from, self.to, self.tag, self.querySet) = (from, to, tag, querySet)
    (self.partition, self.mark, self.lastSequence) = (partition, mark, lastSequence)
  }
}

extension Step {
  package var objectCount: Int { objects.count + (created?.count ?? 0) }

  /// The same with all its objects as values.
  package var expanded: Step {
    guard let created else { return self }
    var step = self
    step.created = nil
    step.objects = created.objects.map { ObjectStep($0.id, .whole($0.instructions)) }
    return step
  }
}

/// How a changeset of the client itself was decided.
package struct OwnChangeset: Sendable, Equatable {
  package var sequence: UInt64
  package var version: UInt64
  /// The stamp that it was decided by.
  package var stamp: Stamp
  /// The hash of the changeset that was decided: a copy of the file may have sent another one of the same sequence.
  package var hash: [UInt8]
  package var refusals: [Refusal]

  package init(
    sequence: UInt64, version: UInt64, stamp: Stamp, hash: [UInt8], refusals: [Refusal] = []
  ) {
    (self.sequence, self.version, self.stamp) = (sequence, version, stamp)
    (self.hash, self.refusals) = (hash, refusals)
  }
}

/// What a step brings of one object.
package struct ObjectStep: Sendable, Equatable {
  package enum Change: Sendable, Equatable {
    /// What changesets did to it, in the order of the log.
    case effects([ObjectEffects])
    /// All that it has, in place of what the client has: the instructions that make a new object so.
    case whole([Instruction])
    /// The client does not see it any more.
    case left
    /// It was deleted, by the changeset of a replica.
    case deleted(DecidedBy)
  }

  package var name: ObjectName
  package var change: Change

  package init(_ name: ObjectName, _ change: Change) { (self.name, self.change) = (name, change) }
}

/// What one changeset did to one object.
package enum ObjectEffects: Sendable, Equatable {
  /// A changeset of the client itself, all of which took effect on the object as it was written.
  case own(sequence: UInt64)
  case others(DecidedBy, [Effect])
}

/// What a changeset was not allowed to do.
package struct Refusal: Sendable, Equatable {
  package enum Reason: UInt8, Sendable {
    /// Somebody else has an object of that key.
    case keyInUse = 1
    /// No query set of the writer would show what it makes.
    case outsideQuerySet = 2
    /// The user may not read or not write it.
    case notPermitted = 3
    /// The property is of another type, or there is none.
    case schemaMismatch = 4
    /// The changeset, or an object with it, is larger than the server can keep; or the class or property is one more than an app may have.
    case tooLarge = 5
  }

  /// What is refused: an object, or a table or property that was to be added.
  package enum Subject: Sendable, Equatable {
    case object(ObjectName)
    case table(String)
    case property(table: String, String)
  }

  package var subject: Subject
  package var reason: Reason

  package init(subject: Subject, reason: Reason) { (self.subject, self.reason) = (subject, reason) }
}
