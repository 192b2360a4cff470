import RealmStorage
import RealmSync

/// Decides what the writer of an upload may do to objects of a class.
struct ObjectAccess {
  private let state: ServerState
  private let upload: Upload
  private let partition: Value?
  private let table: String
  private let ordinal: UInt32
  private let transaction: WriteTransaction
  private let querySets: [FieldFilter]
  /// The fields of the class that filters may use.
  let fields: [String]

  init(
    _ state: ServerState, _ upload: Upload, _ replica: Replica, _ table: String,
    _ transaction: WriteTransaction
  ) {
    (self.state, self.upload, self.table, self.transaction) = (state, upload, table, transaction)
    ordinal = replica.ordinal
    partition = replica.partition(at: upload.base)
    fields = state.settings.fields(of: table)
    querySets = upload.querySets.map { replica.querySets[$0]?[table] ?? .nothing }
  }

  private func matches(_ filter: FieldFilter, _ values: [Value], at version: UInt64) -> Bool {
    filter.matches(values, of: fields, state.asking(upload.user, partition: partition, at: version))
  }

  /// Whether an object is in the partition of the replica. The partition limits both what the replica may read and what
  /// it may write.
  private func isInPartition(_ values: [Value]) -> Bool {
    guard let partition, let property = state.settings.partitionProperty,
      let field = fields.firstIndex(of: property)
    else { return true }
    return field < values.count && values[field] == partition
  }

  private func mayRead(_ values: [Value], at version: UInt64) -> Bool {
    isInPartition(values)
      && matches(state.rules(of: upload.user, at: version).read[table], values, at: version)
  }

  private func has(_ right: KeyPath<AccessRules, ClassFilters>, to values: [Value]) -> Bool {
    isInPartition(values)
      && matches(
        state.rules(of: upload.user, at: state.version)[keyPath: right][table], values, at: state.version)
  }

  private func isQueried(_ values: [Value]) -> Bool {
    querySets.contains { matches($0, values, at: state.version) }
  }

  /// Whether the writer saw an existing object at its base, or after a change of its own since then, or sees it now.
  func saw(_ object: EditedObject, _ now: [Value]) throws(StorageError) -> Bool {
    func sees(_ values: [Value]?, at version: UInt64) -> Bool {
      guard let values else { return false }
      return isQueried(values) && mayRead(values, at: version)
    }
    if sees(now, at: state.version) { return true }
    let store = try ServerStore(transaction, state.settings)
    var isFirst = true
    for (version, place) in try store.versions(of: object.key, after: upload.base) {
      guard let entry = try store.history(of: version), place < entry.objects.count else { continue }
      let touch = entry.objects[place]
      if isFirst, sees(touch.before, at: upload.base) { return true }
      isFirst = false
      if entry.replica == ordinal, sees(touch.after, at: state.version) { return true }
    }
    return isFirst && sees(now, at: upload.base)
  }

  /// The reason for refusing the change of an object; nil if the change is not refused.
  func refusal(before: [Value]?, after: [Value]?, isCreation: Bool) -> Refusal.Reason? {
    // A user who may not read an object may not write it either.
    if let before, !mayRead(before, at: state.version) || !has(after == nil ? \.delete : \.write, to: before)
    {
      return .notPermitted
    }
    guard let after else { return nil }
    guard has(before == nil ? \.insert : \.write, to: after) else { return .notPermitted }
    guard isCreation else { return nil }
    guard mayRead(after, at: state.version) else { return .notPermitted }
    return isQueried(after) ? nil : .outsideQuerySet
  }
}
