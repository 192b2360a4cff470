import RealmStorage
import RealmSync

/// Makes the step that brings a client from one version and view to the newest version and another view. It makes the
/// step in slices.
///
/// The changes of objects are collected at once, in the initializer. A new view may show all objects of the server, so
/// these are read slice by slice. They are read from the version that was the newest when the step was begun, and that
/// version is held until the step is complete.
package struct StepBuild {
  private var writer: StepWriter
  /// The walk through the objects of the new view. It is nil if the view did not change, and after all objects of the
  /// view were told.
  private var walk: ViewWalk?
  private var waiting: [Step] = []

  /// The version that the step leads to, and the sequence of the client's last changeset that was decided up to that
  /// version.
  package let version: UInt64
  package let lastSequence: UInt64

  /// - Returns: nil if the replica has to be reset, because it is unknown, it was retired, or its version is before the
  ///   horizon.
  /// - Throws: `StorageError`.
  package init?(
    _ state: ServerState, _ request: StepRequest, _ transaction: WriteTransaction
  ) throws(StorageError) {
    guard var builder = try StepBuilder(state, request, transaction) else { return nil }
    var snapshot: Snapshot?
    var others = 0
    if request.old != request.new {
      let newest = try transaction.baseSnapshot()
      for schema in try newest.schemas() where !schema.isEmbedded {
        others += try newest.table(schema.name)?.count ?? 0
      }
      snapshot = newest
    }
    var parts: [Step] = []
    let told = try builder.build(before: others) { (part) throws(StorageError) in parts.append(part) }
    (writer, waiting) = (builder.writer, parts)
    (version, lastSequence) = (writer.step.to, writer.step.lastSequence)
    if let snapshot {
      walk = try ViewWalk(request.old, request.new, state.settings, told: told, snapshot)
    }
  }

  /// Makes the next parts of the step.
  ///
  /// - Parameters:
  ///   - rows: the number of rows that are looked at, about.
  ///   - send: receives the parts, in their order.
  /// - Returns: whether these were the last parts of the step.
  /// - Throws: `StorageError`.
  package mutating func go(
    _ rows: Int = .max, _ send: (Step) throws(StorageError) -> Void
  ) throws(StorageError) -> Bool {
    for part in waiting { try send(part) }
    waiting = []
    guard try walk?.go(rows, &writer, send) ?? true else { return false }
    walk = nil
    try send(writer.finish())
    return true
  }
}

extension ServerState {
  /// Makes the step that brings a replica to the newest version.
  ///
  /// - Parameter send: receives the parts of the step, in their order.
  /// - Returns: false if the replica has to be reset, because it is unknown, it was retired, or its version is before
  ///   the horizon.
  /// - Throws: `StorageError`.
  package func step(
    _ request: StepRequest, _ transaction: WriteTransaction,
    _ send: (Step) throws(StorageError) -> Void
  ) throws(StorageError) -> Bool {
    guard var build = try StepBuild(self, request, transaction) else { return false }
    return try build.go(.max, send)
  }
}
