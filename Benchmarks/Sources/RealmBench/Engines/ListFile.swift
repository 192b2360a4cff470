/// A file of owners with lists, as `Lists` describes it. An element is a number, or the item with that number.
protocol ListFile: Committing {
  /// Adds the items and the owners with their short lists, in one durable transaction.
  func fill() throws
  /// Appends elements to an owner's list, in one durable transaction, and by one call if the engine has such a call.
  func append(together elements: [Int], toListOf owner: Int) throws
  /// Appends elements in the same way, but by one call for each element.
  func append(oneByOne elements: [Int], toListOf owner: Int) throws

  /// Whether the engine has commits that are cheaper than durable ones and survive the death of the process.
  var hasRelaxedCommits: Bool { get }
  func prepareSmallCommits() throws
  /// Sets the number of an owner, in one commit.
  func setNumber(_ number: Int64, of owner: Int) throws
  /// Appends an element to the long list in one commit. The next methods change the long list in one commit, too.
  func append(_ element: Int) throws
  func insert(_ element: Int, at place: Int) throws
  func remove(at place: Int) throws

  /// Whether the engine finds an element by its place. If not, it passes all elements before it.
  var findsPlaces: Bool { get }
  /// Reads the elements of the long list at some places.
  func read(at places: [Int]) throws -> Answer
  /// Reads the elements of the long list in their order.
  func iterate() throws -> Answer
  /// Reads the elements of all lists.
  func iterateAll() throws -> Answer
  /// A hash of the long list. It depends on the order of the list.
  func content() throws -> Answer
  /// The number of list elements that link to an item, counted by asking for each item.
  func countLinks() throws -> Int

  /// Removes the first element of the long list many times, in one durable transaction.
  func removeFirst(times: Int) throws
  /// Deletes items in one durable transaction, by one call if the engine has such a call and `isTogether` is true, else
  /// by a call for each. The lists lose the deleted items. Returns the time in seconds, without the time for finding
  /// the items.
  func delete(items: [Int], isTogether: Bool) throws -> Double

  func close() throws
}

extension ListFile {
  func prepareSmallCommits() throws {}
}

extension Contender {
  /// Opens the engine's file of lists; the result is nil for an engine that does not take part.
  func openLists(_ lists: Lists, in folder: String) throws -> (any ListFile)? {
    switch kind {
    case .realmStorage: try StorageLists(lists, folder: folder, isEncrypted: isEncrypted)
    case .realmObjects: try ObjectsLists(lists, folder: folder, isEncrypted: isEncrypted)
    case .sqlite: try SQLiteLists(lists, folder: folder)
    case .grdb, .lmdb: nil
    }
  }

  /// Whether the engine takes part in workloads on lists, sets and maps. GRDB does not, because it stores what SQLite
  /// does. LMDB does not, because it has no collections.
  var hasCollections: Bool { kind != .grdb && kind != .lmdb }
}
