import RealmStorage

/// A message that brings a client from one version of the log to another, and from one view to another.
///
/// A step may come in several parts, which are applied together. An object stands in one part of a step.
package struct Step: Sendable, Equatable {
  /// The version that the client has before the step.
  package var from: UInt64
  /// The version that the client has after the step, and the tag of that entry of the log.
  package var to: UInt64
  package var tag: UInt64
  /// The number of the query set whose view the client has after the step.
  package var querySet: UInt64
  /// The partition of the replica; nil for a replica without a partition, or whose partition has become an ordinary
  /// filter.
  package var partition: Value?
  /// The greatest stamp of all changesets up to the version.
  package var mark: Stamp
  /// The sequence of the last changeset of the client that was decided.
  package var lastSequence: UInt64
  package var own: [OwnChangeset] = []
  package var schema: [SchemaInstruction] = []
  /// The numbers of the replicas, by the numbers that ids of elements and effects in the step use for them. The first
  /// is 0 and names no replica.
  package var replicas: [UInt64] = [0]
  package var objects: [ObjectStep] = []
  /// Whole objects of which no values were made yet. A part with such objects has no other objects, names no replicas
  /// and has no definitions.
  package var created: CreatedObjects?
  package var isLast = true
  /// The approximate numbers of objects and bytes that are still to come. They do not grow within a step.
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

  /// The same step with all its objects as values.
  package var expanded: Step {
    guard let created else { return self }
    var step = self
    step.created = nil
    step.objects = created.objects.map { ObjectStep($0.id, .whole($0.instructions)) }
    return step
  }
}

/// The decision on a changeset of the client itself.
package struct OwnChangeset: Sendable, Equatable {
  package var sequence: UInt64
  package var version: UInt64
  /// The stamp by which the changeset was decided.
  package var stamp: Stamp
  /// The hash of the changeset that was decided. A copy of the file may have sent another changeset with the same
  /// sequence.
  package var hash: [UInt8]
  package var refusals: [Refusal]

  package init(
    sequence: UInt64, version: UInt64, stamp: Stamp, hash: [UInt8], refusals: [Refusal] = []
  ) {
    (self.sequence, self.version, self.stamp) = (sequence, version, stamp)
    (self.hash, self.refusals) = (hash, refusals)
  }
}

/// The change of one object in a step.
package struct ObjectStep: Sendable, Equatable {
  package enum Change: Sendable, Equatable {
    /// The effects of changesets on the object, in the order of the log.
    case effects([ObjectEffects])
    /// The whole content of the object, which replaces what the client has: the instructions that make a new object
    /// with it.
    case whole([Instruction])
    /// The object left the view of the client.
    case left
    /// A changeset deleted the object.
    case deleted(DecidedBy)
  }

  package var name: ObjectName
  package var change: Change

  package init(_ name: ObjectName, _ change: Change) { (self.name, self.change) = (name, change) }
}

/// The effects of one changeset on one object.
package enum ObjectEffects: Sendable, Equatable {
  /// A changeset of the client itself, whose instructions on the object all took effect as they were written.
  case own(sequence: UInt64)
  case others(DecidedBy, [Effect])
}

/// A part of a changeset that the server refused.
package struct Refusal: Sendable, Equatable {
  package enum Reason: UInt8, Sendable {
    /// Another user has an object with that key.
    case keyInUse = 1
    /// No query set of the writer would show the new object.
    case outsideQuerySet = 2
    /// The user may not read or not write the object.
    case notPermitted = 3
    /// The property has another type, or does not exist.
    case schemaMismatch = 4
    /// The changeset, or an object with it, is larger than the server can keep; or the class or property is one more
    /// than an app may have.
    case tooLarge = 5
  }

  /// The subject of a refusal: an object, or a table or property that was to be added.
  package enum Subject: Sendable, Equatable {
    case object(ObjectName)
    case table(String)
    case property(table: String, String)
  }

  package var subject: Subject
  package var reason: Reason

  package init(subject: Subject, reason: Reason) { (self.subject, self.reason) = (subject, reason) }
}
