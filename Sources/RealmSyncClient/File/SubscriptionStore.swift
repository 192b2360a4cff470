import RealmStorage
import RealmSync

/// The subscriptions of a file, by the numbers of their query sets. The store has the set in force and all newer sets.
///
/// They stand beside the position of the file, under the key 5 and the number. The queries that the server is asked for
/// stand in `QuerySetStore`.
package enum SubscriptionStore {
  private static let kind: UInt8 = 5

  private static func key(_ number: UInt64) -> [UInt8] {
    var key = [kind]
    key.appendHighestFirst(number)
    return key
  }

  /// The newest set of a file, in any state. A file that never had a set gets an empty one with the number 0.
  package static func newest(_ snapshot: Snapshot) throws(StorageError) -> StoredSubscriptionSet {
    let number = try snapshot.changelog()?.state.querySet ?? 0
    return try set(number, in: snapshot.tree(ClientPosition.tree)) ?? StoredSubscriptionSet(number: number)
  }

  /// The newest set of a file in a transaction, in any state.
  package static func newest(_ transaction: WriteTransaction) throws(StorageError) -> StoredSubscriptionSet {
    let number = try transaction.changesets()?.state.querySet ?? 0
    return try set(number, in: transaction.tree(ClientPosition.tree)) ?? StoredSubscriptionSet(number: number)
  }

  /// The state of the set with a number.
  package static func state(
    of number: UInt64, _ snapshot: Snapshot
  ) throws(StorageError) -> StoredSubscriptionState {
    let tree = try snapshot.tree(ClientPosition.tree)
    let inForce = try ClientPosition(tree).querySet
    if number == inForce { return .complete }
    if number < inForce { return .superseded }
    guard let refusal = try set(number, in: tree)?.refusal else { return .pending }
    return .refused(code: refusal.code, text: refusal.text)
  }

  /// The set with a number; nil if it was forgotten or never had subscriptions.
  static func set(
    _ number: UInt64, in tree: some ReadableTree
  ) throws(StorageError) -> StoredSubscriptionSet? {
    guard let bytes = try tree.value(for: key(number)) else { return nil }
    guard let set = StoredSubscriptionSet(number: number, bytes: bytes) else { throw tree.damaged }
    return set
  }

  static func store(_ set: StoredSubscriptionSet, in tree: WritableTree) throws(StorageError) {
    try tree.set(set.bytes, for: key(set.number))
  }

  /// Forgets the sets that are older than the set in force, which has the given number.
  static func forget(before number: UInt64, in tree: WritableTree) throws(StorageError) {
    var gone: [[UInt8]] = []
    let end = key(number)
    try tree.forEach(from: [kind]) { (key, _) in
      guard key.lexicographicallyPrecedes(end) else { return false }
      gone.append(key)
      return true
    }
    for key in gone { try tree.removeValue(for: key) }
  }
}

extension ClientFile {
  /// The newest subscriptions of the file, in any state.
  package func subscriptions() throws(ClientProblem) -> StoredSubscriptionSet {
    try storing { () throws(StorageError) in try SubscriptionStore.newest(transaction) }
  }

  /// Gives the file other subscriptions. The server is asked for each query once.
  ///
  /// - Returns: the number of their query set.
  package mutating func setSubscriptions(
    _ subscriptions: [StoredSubscription]
  ) throws(ClientProblem) -> UInt64 {
    let number = try setQueries(subscriptions.queries)
    let set = StoredSubscriptionSet(number: number, subscriptions: subscriptions)
    try storing { () throws(StorageError) in
      try SubscriptionStore.store(set, in: transaction.tree(ClientPosition.tree))
    }
    return number
  }

  /// Stores the reason why the server can't use a query set. Nothing is stored if the set is not newer than the set in
  /// force.
  package mutating func noteRefused(
    querySet number: UInt64, code: UInt32, text: String
  ) throws(ClientProblem) {
    guard number > position.querySet, number <= newestQuerySet else { return }
    try storing { () throws(StorageError) in
      let tree = try transaction.tree(ClientPosition.tree)
      var set = try SubscriptionStore.set(number, in: tree) ?? StoredSubscriptionSet(number: number)
      set.refusal = StoredSubscriptionSet.Refusal(code: code, text: text)
      try SubscriptionStore.store(set, in: tree)
    }
  }
}

extension [StoredSubscription] {
  /// The queries of the subscriptions. Each query stands here once, in the order of first appearance.
  fileprivate var queries: [QuerySet.Query] {
    var seen: Set<[UInt8]> = []
    return compactMap { subscription in
      // A byte that no text contains stands between the class and the predicate.
      let words = [UInt8](subscription.table.utf8) + [0xff] + [UInt8](subscription.predicate.utf8)
      guard seen.insert(words).inserted else { return nil }
      return QuerySet.Query(table: subscription.table, predicate: subscription.predicate)
    }
  }
}
