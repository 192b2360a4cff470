import RealmStorage

/// What decided a place last: a changeset, by the order of its arrival and by its stamp.
struct MergeRecord: Sendable, Equatable {
  /// The stamp by which the changeset is decided, whoever else's clock runs ahead.
  var stamp: Stamp
  /// The replica that made it, by its number in this file.
  var replica: UInt32
  /// Its place in the log; of one that is not in the log yet a number beyond all versions.
  var version: UInt64
  /// The value is that which a new object has where the program gave none.
  var isDefault = false
}

/// How a changeset is merged: who made it, what its writer had seen, and when.
package struct MergeContext: Sendable {
  /// The replica that made the changeset, by its number in this file.
  package var replica: UInt32
  /// The version of the log up to which the writer had seen all.
  package var base: UInt64
  package var stamp: Stamp
  /// The version that the changeset is in the log, or a number beyond all versions.
  package var version: UInt64
  /// The greatest counter of the ids that the replica has given so far: no list has an element of a greater one. Nil where that is not known.
  package var lastElement: UInt32?
  /// The property that tells the partition of an object, and what it is in all that the writer makes.
  package var partition: Partition?
  /// The numbers of the replicas, which are the same everywhere, by their numbers in this file.
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

  /// A changeset that is in no log yet comes behind all that are, in the order of its sequence.
  package static func pendingVersion(_ sequence: UInt64) -> UInt64 { firstPending + sequence }
  private static let firstPending = UInt64(1) << 62

  /// Whether no list has an element or a position of an id yet.
  func isNew(_ id: ElementID) -> Bool {
    guard let lastElement else { return false }
    return id.replica == replica && id.counter > lastElement
  }

  func record(isDefault: Bool = false) -> MergeRecord {
    MergeRecord(stamp: stamp, replica: replica, version: version, isDefault: isDefault)
  }

  /// Whether the writer had seen what was decided then. What has no record was decided so long ago that everybody has seen it.
  func hasSeen(_ record: MergeRecord?) -> Bool {
    guard let record else { return true }
    return record.version <= base || record.replica == replica
  }

  /// Whether the changeset counts as earlier than what a record tells. Of one changeset each instruction counts as later than those before it.
  func isEarlier(than record: MergeRecord?) -> Bool {
    guard let record else { return false }
    return isEarlier((stamp, replica), (record.stamp, record.replica))
  }

  /// Two replicas never tie: then their numbers decide. A replica without a number, which is this file before it was ever registered, comes last.
  func isEarlier(_ one: (stamp: Stamp, replica: UInt32), _ other: (stamp: Stamp, replica: UInt32)) -> Bool {
    one.stamp == other.stamp ? number(one.replica) < number(other.replica) : one.stamp < other.stamp
  }

  private func number(_ replica: UInt32) -> UInt64 {
    Int(replica) < replicas.count ? replicas[Int(replica)] : .max
  }
}

/// What a changeset did to an object when it was merged: all that others apply, without deciding anything.
package struct Effect: Sendable, Equatable {
  /// What happens. A value that was set has what others added to it. A new or moved element stands behind the element that is its left neighbour now.
  package var instruction: Instruction
  /// Of an element that is inserted or moved.
  package var order: ElementOrder?

  package init(_ instruction: Instruction, order: ElementOrder? = nil) {
    (self.instruction, self.order) = (instruction, order)
  }
}

/// Where a new position in a list stands, as later decisions need it.
package struct ElementOrder: Sendable, Equatable {
  /// The nearest position to its left that is not in force any more, up to the element that is its left neighbour; or none.
  package var dead: ElementID
  /// The position that it hangs on.
  package var parent: ElementID
  /// It hangs on the left of its parent.
  package var isLeftOfParent: Bool
  /// The position that was its left neighbour when it was written.
  package var left: ElementID
  /// A later move of the element, or its end, had been decided: nothing is moved, and the position is not in force.
  package var isLost: Bool

  package init(
    dead: ElementID, parent: ElementID, isLeftOfParent: Bool, left: ElementID, isLost: Bool = false
  ) {
    (self.dead, self.parent, self.isLeftOfParent) = (dead, parent, isLeftOfParent)
    (self.left, self.isLost) = (left, isLost)
  }
}

/// The changeset that decided something.
package struct DecidedBy: Sendable, Hashable {
  package var version: UInt64
  package var stamp: Stamp
  /// The number of its replica in the file, or in the step that tells it.
  package var replica: UInt32

  package init(version: UInt64, stamp: Stamp, replica: UInt32) {
    (self.version, self.stamp, self.replica) = (version, stamp, replica)
  }
}
