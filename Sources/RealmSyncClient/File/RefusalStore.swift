import RealmStorage
import RealmSync

/// The refusals of a file's changes that were not told to the app yet.
///
/// They stand beside the position of the file, under the key 2 and a number that grows.
struct RefusalStore {
  private let tree: WritableTree
  private static let kind: UInt8 = 2
  /// The key of the number of the last refusal.
  private static let lastNumber: [UInt8] = [3]
  /// The greatest number of refusals. If there are more, the oldest are forgotten.
  static let most = 1000

  init(_ transaction: WriteTransaction) throws(StorageError) {
    tree = try transaction.tree(ClientPosition.tree)
  }

  private func key(_ number: UInt64) -> [UInt8] {
    var key = [Self.kind]
    key.appendHighestFirst(number)
    return key
  }

  /// The refusals with their numbers, the oldest first.
  func all() throws(StorageError) -> [(number: UInt64, refusal: Refusal)] {
    var found: [(UInt64, Refusal)] = []
    let damaged = tree.damaged
    try tree.forEach(from: [Self.kind]) { (key, value) throws(StorageError) in
      guard key.first == Self.kind else { return false }
      guard key.count == 9, let refusal = Refusal(bytes: value) else { throw damaged }
      found.append((key.dropFirst().reduce(0) { $0 << 8 | UInt64($1) }, refusal))
      return true
    }
    return found
  }

  func add(_ refusals: [Refusal]) throws(StorageError) {
    guard !refusals.isEmpty else { return }
    // The numbers go on even after all refusals were told.
    var number: UInt64 = 0
    if let bytes = try tree.value(for: Self.lastNumber) {
      number = bytes.reduce(0) { $0 << 8 | UInt64($1) }
      guard bytes.count == 8, number < 1 << 62 else { throw tree.damaged }
    }
    number += UInt64(max(0, refusals.count - Self.most))
    for refusal in refusals.suffix(Self.most) {
      number += 1
      try tree.set(refusal.bytes, for: key(number))
    }
    var last: [UInt8] = []
    last.appendHighestFirst(number)
    try tree.set(last, for: Self.lastNumber)
    guard number > Self.most else { return }
    try forget(upTo: number - UInt64(Self.most))
  }

  func forget(upTo number: UInt64) throws(StorageError) {
    for (known, _) in try all() where known <= number { try tree.removeValue(for: key(known)) }
  }
}

extension ClientFile {
  /// The refusals that were not told to the app yet, with their numbers, the oldest first.
  package func refusals() throws(ClientProblem) -> [(number: UInt64, refusal: Refusal)] {
    try storing { () throws(StorageError) in try RefusalStore(transaction).all() }
  }

  /// Forgets the refusals up to a number, because the app was told.
  package func forgetRefusals(upTo number: UInt64) throws(ClientProblem) {
    try storing { () throws(StorageError) in try RefusalStore(transaction).forget(upTo: number) }
  }
}
