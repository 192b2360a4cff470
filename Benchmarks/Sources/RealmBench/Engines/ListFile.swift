/// A file of owners with lists, as `Lists` tells. An element is a number, or the item of that number.
protocol ListFile: Committing {
  /// Adds the items and the owners with their short lists, in one durable transaction.
  func fill() throws
  /// Adds elements behind the others of an owner's list, in one durable transaction and by one call where there is one.
  func append(together elements: [Int], toListOf owner: Int) throws
  /// The same by one call for each.
  func append(oneByOne elements: [Int], toListOf owner: Int) throws

  /// Whether there are commits that are cheaper than durable ones and survive the death of the process.
  var hasRelaxedCommits: Bool { get }
  func prepareSmallCommits() throws
  /// Sets the number of an owner, in one commit.
  func setNumber(_ number: Int64, of owner: Int) throws
  /// Change the long list, in one commit.
  func append(_ element: Int) throws
  func insert(_ element: Int, at place: Int) throws
  func remove(at place: Int) throws

  /// Whether an element is found by its place. Else all elements before it are passed.
  var findsPlaces: Bool { get }
  /// Reads the elements of the long list at some places.
  func read(at places: [Int]) throws -> Answer
  /// Reads the elements of the long list in their order.
  func iterate() throws -> Answer
  /// Reads the elements of all lists.
  func iterateAll() throws -> Answer
  /// A hash of the long list, which depends on its order.
  func content() throws -> Answer
  /// How many elements of lists there are that link to one of the items, by asking for each item.
  func countLinks() throws -> Int

  /// Removes the first element of the long list many times, in one durable transaction.
  func removeFirst(times: Int) throws
  /// Deletes items, which leave the lists that hold them, in one durable transaction: by one call where there is one, or each
  /// by its own. Answers how long that took, in seconds; to find the items is no part of it.
  func delete(items: [Int], isTogether: Bool) throws -> Double

  func close() throws
}

extension ListFile {
  func prepareSmallCommits() throws {}
}

extension Contender {
  /// Nil for an engine that these workloads leave out.
  func openLists(_ lists: Lists, in folder: String) throws -> (any ListFile)? {
    switch kind {
    case .realmStorage: try StorageLists(lists, folder: folder, isEncrypted: isEncrypted)
    case .realmObjects: try ObjectsLists(lists, folder: folder, isEncrypted: isEncrypted)
    case .sqlite: try SQLiteLists(lists, folder: folder)
    case .grdb, .lmdb: nil
    }
  }

  /// Whether workloads on lists, sets and maps are for it: GRDB stores what SQLite does, and LMDB has no such thing.
  var hasCollections: Bool { kind != .grdb && kind != .lmdb }
}
