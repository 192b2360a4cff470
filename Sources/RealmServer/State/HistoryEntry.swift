import RealmStorage
import RealmSync

/// An entry of the history tells what an upload did.
package struct HistoryEntry: Sendable, Equatable {
  package var version: UInt64
  /// The replica that made it, by its number in the server's file.
  package var replica: UInt32
  package var sequence: UInt64
  /// That of the changeset.
  package var hash: [UInt8]
  package var base: UInt64
  /// The stamp that it was decided by.
  package var stamp: Stamp
  /// The objects that it changed.
  package var objects: [ObjectHistory] = []
  package var refusals: [Refusal] = []
}

/// The part of an entry that tells what an upload did to one object.
package struct ObjectHistory: Sendable, Equatable {
  package var name: ObjectName
  /// The values that the object had before in the fields that filters may use; nil where there was no object.
  package var before: [Value]?
  package var after: [Value]?
  package var effects: [Effect]
  /// All instructions took effect as they were written: who wrote them needs no copy.
  package var isAsWritten: Bool
}
