/// Trees of entries that a transaction has added to an index which it fills, to be joined when the index is read: each entry is
/// made part of a tree a few times, however many there are.
struct IndexParts {
  /// Of parts that were many.
  private var joined: [Ref] = []
  private var fresh: [Ref] = []
  /// Why what is here is of no use any more: to join trees frees them.
  private var failure: StorageError?

  /// The next entry is looked for among all, and each is joined with others of about its size.
  private static let most = 32

  var isEmpty: Bool { joined.isEmpty && fresh.isEmpty }
  var all: [Ref] { joined + fresh }

  /// - Throws: why a change broke off half-way.
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

  /// One tree of all, and of another.
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
