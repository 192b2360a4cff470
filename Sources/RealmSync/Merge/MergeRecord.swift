import RealmStorage

/// The last decision on a place: the changeset that made it, with its version in the log and its stamp.
struct MergeRecord: Sendable, Equatable {
  /// The stamp by which the changeset is decided. It is bounded if the clock of its writer ran ahead.
  var stamp: Stamp
  /// The replica that made the changeset, by its number in this file.
  var replica: UInt32
  /// The version of the changeset in the log. A changeset that is not in the log yet has a number beyond all versions.
  var version: UInt64
  /// True if the value is the default of a new object, to which the program gave no value.
  var isDefault = false
}

/// The context of a changeset that is merged: its writer, what the writer had seen, and its time.
package struct MergeContext: Sendable {
  /// The replica that made the changeset, by its number in this file.
  package var replica: UInt32
  /// The version of the log up to which the writer had seen everything.
  package var base: UInt64
  package var stamp: Stamp
  /// The version of the changeset in the log, or a number beyond all versions.
  package var version: UInt64
  /// The greatest counter of the ids that the replica has given so far. No list has an element of the replica with a
  /// greater counter. The value is nil if that is not known.
  package var lastElement: UInt32?
  /// The property that tells the partition of an object, and its value in all objects that the writer makes.
  package var partition: Partition?
  /// The global numbers of the replicas, by their numbers in this file.
  package var replicas: [UInt64]

  package struct Partition: Sendable, Equatable {
    package var property: String
    package var value: Value

    package init(property: String, value: Value) { (self.property, self.value) = (property, value) }
  }

  package init(
    replica: UInt32, base: UInt64, stamp: Stamp, version: UInt64, partition: Partition? = nil,
    replicas: [UInt64]
  ) {
    (self.replica, self.base, self.stamp, self.version) = (replica, base, stamp, version)
    (self.partition, self.replicas) = (partition, replicas)
  }

  /// The version that stands for a changeset which is in no log yet. Such changesets come behind all versions of the
  /// log, in the order of their sequences.
  package static func pendingVersion(_ sequence: UInt64) -> UInt64 { firstPending + sequence }
  private static let firstPending = UInt64(1) << 62

  /// True if no list can have an element or a position with the id yet.
  func isNew(_ id: ElementID) -> Bool {
    guard let lastElement else { return false }
    return id.replica == replica && id.counter > lastElement
  }

  func record(isDefault: Bool = false) -> MergeRecord {
    MergeRecord(stamp: stamp, replica: replica, version: version, isDefault: isDefault)
  }

  /// True if the writer had seen the decision. A decision without a record was made so long ago that every writer has
  /// seen it.
  func hasSeen(_ record: MergeRecord?) -> Bool {
    guard let record else { return true }
    return record.version <= base || record.replica == replica
  }

  /// True if the changeset counts as earlier than a decision. An instruction counts as later than the instructions
  /// before it in the same changeset.
  func isEarlier(than record: MergeRecord?) -> Bool {
    guard let record else { return false }
    return isEarlier((stamp, replica), (record.stamp, record.replica))
  }

  /// Compares two changesets by their stamps, and changesets with the same stamp by the numbers of their replicas, so
  /// two replicas never tie. A replica without a number, which is this file before it was ever registered, counts as
  /// the latest.
  func isEarlier(_ one: (stamp: Stamp, replica: UInt32), _ other: (stamp: Stamp, replica: UInt32)) -> Bool {
    one.stamp == other.stamp ? number(one.replica) < number(other.replica) : one.stamp < other.stamp
  }

  private func number(_ replica: UInt32) -> UInt64 {
    Int(replica) < replicas.count ? replicas[Int(replica)] : .max
  }
}

/// The effect of a merged instruction on an object, in a form that others apply without deciding anything.
package struct Effect: Sendable, Equatable {
  /// The instruction that is carried out. A value that was set includes what others added to it. The left neighbour of
  /// a new or moved element is its present left neighbour.
  package var instruction: Instruction
  /// The order of an element that is inserted or moved.
  package var order: ElementOrder?

  package init(_ instruction: Instruction, order: ElementOrder? = nil) {
    (self.instruction, self.order) = (instruction, order)
  }
}

/// The place of a new position in a list, with what later decisions need.
package struct ElementOrder: Sendable, Equatable {
  /// The nearest position to the left that is not in force any more, as far as the left neighbour; or none.
  package var dead: ElementID
  /// The parent of the position: the position on which it hangs.
  package var parent: ElementID
  /// True if the position hangs on the left of its parent.
  package var isLeftOfParent: Bool
  /// The position that was the left neighbour when the new position was written.
  package var left: ElementID
  /// True if a later move of the element, or its end, had been decided before. Then nothing is moved, and the position
  /// is not in force.
  package var isLost: Bool

  package init(
    dead: ElementID, parent: ElementID, isLeftOfParent: Bool, left: ElementID, isLost: Bool = false
  ) {
    (self.dead, self.parent, self.isLeftOfParent) = (dead, parent, isLeftOfParent)
    (self.left, self.isLost) = (left, isLost)
  }
}

/// The changeset that made a decision.
package struct DecidedBy: Sendable, Hashable {
  package var version: UInt64
  package var stamp: Stamp
  /// The number of its replica in the file, or in the step that tells the decision.
  package var replica: UInt32

  package init(version: UInt64, stamp: Stamp, replica: UInt32) {
    (self.version, self.stamp, self.replica) = (version, stamp, replica)
  }
}
