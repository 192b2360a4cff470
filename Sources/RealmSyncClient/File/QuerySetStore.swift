import RealmStorage
import RealmSync

/// The query sets of a file that its server may not have, by their numbers.
///
/// They stand beside the position of the file, under the key 1 and the number.
struct QuerySetStore {
  private let tree: WritableTree
  private static let kind: UInt8 = 1

  init(_ transaction: WriteTransaction) throws(StorageError) {
    tree = try transaction.tree(ClientPosition.tree)
  }

  private func key(_ number: UInt64) -> [UInt8] {
    var key = [Self.kind]
    key.appendHighestFirst(number)
    return key
  }

  /// The query set with a number; nil if it is not stored any more.
  func querySet(_ number: UInt64) throws(StorageError) -> QuerySet? {
    guard let bytes = try tree.value(for: key(number)) else { return nil }
    guard case .querySet(let set)? = try? ClientMessage(bytes: bytes) else { throw tree.damaged }
    return set
  }

  func store(_ set: QuerySet) throws(StorageError) {
    try tree.set(ClientMessage.querySet(set).bytes, for: key(set.number))
  }

  /// Forgets the sets that are older than the set in force, which has the given number.
  func forget(before number: UInt64) throws(StorageError) {
    var gone: [[UInt8]] = []
    let end = key(number)
    try tree.forEach(from: [Self.kind]) { (key, _) in
      guard key.lexicographicallyPrecedes(end) else { return false }
      gone.append(key)
      return true
    }
    for key in gone { try tree.removeValue(for: key) }
  }
}

extension ClientFile {
  /// The number of the newest query set of the file; 0 if the file has none.
  package var newestQuerySet: UInt64 {
    max(pending.state.querySet, position.partition == nil ? 0 : Self.partitionQuerySet)
  }

  /// Gives the file another query set. Changes that are written from now on name this set.
  ///
  /// - Returns: the number of the set.
  package mutating func setQueries(_ queries: [QuerySet.Query]) throws(ClientProblem) -> UInt64 {
    let number = newestQuerySet + 1
    try storing { () throws(StorageError) in
      try QuerySetStore(transaction).store(QuerySet(number: number, queries: queries))
      try transaction.changeChangelogState { $0.querySet = number }
    }
    try renew(position)
    return number
  }

  /// The query set with a number; nil if it is not stored any more.
  package func querySet(_ number: UInt64) throws(ClientProblem) -> QuerySet? {
    try storing { () throws(StorageError) in try QuerySetStore(transaction).querySet(number) }
  }
}
