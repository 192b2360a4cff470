/// A change of a collection, as an observer of it is told.
public enum RealmCollectionChange<CollectionType> {
  /// The first call: the collection as it is now.
  case initial(CollectionType)
  /// The collection has changed since the call before. The older elements without the deletions and with the insertions are the newer
  /// ones, and elements that stayed and changed are modifications.
  ///
  /// - Parameters:
  ///   - deletions: places in the older collection, growing.
  ///   - insertions: places in the newer collection, growing.
  ///   - modifications: places in the older collection, growing.
  case update(CollectionType, deletions: [Int], insertions: [Int], modifications: [Int])
  /// The file can't be read any more. Nothing more is told.
  case error(any Error)
}

/// A change of a map, as an observer of it is told.
public enum RealmMapChange<Collection: RealmKeyedCollection> {
  /// The first call: the map as it is now.
  case initial(Collection)
  /// The map has changed since the call before: some keys are there no more, others are new, and others have another value, or
  /// lead to an object that changed.
  case update(
    Collection, deletions: [Collection.Key], insertions: [Collection.Key], modifications: [Collection.Key])
  /// The file can't be read any more. Nothing more is told.
  case error(any Error)
}

/// The elements of a collection that changed, by their places.
struct ElementsChange {
  var deletions: [Int] = []
  var insertions: [Int] = []
  /// Places in the older collection.
  var modifications: [Int] = []

  var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}

/// A call of an observer of a collection, before it has the type that the program sees.
enum Told<Change> {
  case initial
  case update(Change)
  case error(any Error)
}
