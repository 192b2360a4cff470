import RealmStorage
import RealmSync

/// An entry of the history tells what an upload did.
package struct HistoryEntry: Sendable, Equatable {
  package var version: UInt64
  /// The ordinal of the replica that made the upload.
  package var replica: UInt32
  package var sequence: UInt64
  /// The hash of the changeset.
  package var hash: [UInt8]
  package var base: UInt64
  /// The stamp by which the changeset was decided.
  package var stamp: Stamp
  /// The objects that the changeset changed.
  package var objects: [ObjectHistory] = []
  package var refusals: [Refusal] = []
}

/// The part of an entry that tells what an upload did to one object.
package struct ObjectHistory: Sendable, Equatable {
  package var name: ObjectName
  /// The values that the object had before the upload in the fields that filters may use; nil if there was no object.
  package var before: [Value]?
  package var after: [Value]?
  package var effects: [Effect]
  /// True if all instructions took effect as they were written. Then their writer does not need the effects.
  package var isAsWritten: Bool
}
