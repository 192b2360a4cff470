/// Trees of entries that a transaction has added to an index that it fills. They are joined when the index is read.
/// Each entry is put into a new tree only a few times, however many entries there are.
struct IndexParts {
  /// Trees that were joined from `most` trees each.
  private var joined: [Ref] = []
  private var fresh: [Ref] = []
  /// The error that makes the trees unusable, because a join frees the trees that it reads; nil if there was none.
  private var failure: StorageError?

  /// The number of trees that are joined to one. A join looks at all of its trees for each next entry, and each tree is
  /// joined with others of about its size.
  private static let most = 32

  var isEmpty: Bool { joined.isEmpty && fresh.isEmpty }
  var all: [Ref] { joined + fresh }

  /// - Throws: the error of an earlier change that was not completed.
  func check() throws(StorageError) { if let failure { throw failure } }

  mutating func add(
    _ make: () throws(StorageError) -> Ref, join: ([Ref]) throws(StorageError) -> Ref
  ) throws(StorageError) {
    try check()
    do throws(StorageError) {
      fresh.append(try make())
      guard fresh.count >= Self.most else { return }
      joined.append(try join(fresh))
      fresh = []
    } catch {
      failure = error
      throw error
    }
  }

  /// Joins all trees, and `other` too if it is not null, to one tree. Returns its root.
  mutating func takeJoined(
    _ other: Ref, _ join: ([Ref]) throws(StorageError) -> Ref
  ) throws(StorageError) -> Ref {
    try check()
    do throws(StorageError) {
      let tree = try join((other.isNull ? [] : [other]) + all)
      (joined, fresh) = ([], [])
      return tree
    } catch {
      failure = error
      throw error
    }
  }
}
