/// A change of a collection, with which its observers are called.
public enum RealmCollectionChange<CollectionType> {
  /// The first call, with the collection as it is now.
  case initial(CollectionType)
  /// The collection has changed since the previous call. To get from the older collection to the newer one, remove the elements
  /// at `deletions`, then insert those at `insertions`. Elements that stayed and changed are `modifications`.
  ///
  /// A list or set of more than 10,000 values that are no objects may be told as if all its elements had been removed and
  /// inserted.
  ///
  /// - Parameters:
  ///   - deletions: indexes in the older collection, in ascending order.
  ///   - insertions: indexes in the newer collection, in ascending order.
  ///   - modifications: indexes in the older collection, in ascending order.
  case update(CollectionType, deletions: [Int], insertions: [Int], modifications: [Int])
  /// The file can't be read any more. This is the last call.
  case error(any Error)
}

/// A change of a map, with which its observers are called.
public enum RealmMapChange<Collection: RealmKeyedCollection> {
  /// The first call, with the map as it is now.
  case initial(Collection)
  /// The map has changed since the previous call: keys were removed (`deletions`), keys are new (`insertions`), and keys have
  /// another value or lead to an object that changed (`modifications`).
  case update(
    Collection, deletions: [Collection.Key], insertions: [Collection.Key], modifications: [Collection.Key])
  /// The file can't be read any more. This is the last call.
  case error(any Error)
}

/// The elements of a collection that changed, by their indexes.
struct ElementsChange {
  var deletions: [Int] = []
  var insertions: [Int] = []
  /// The indexes of the modified elements in the older collection.
  var modifications: [Int] = []

  var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}

/// A call of an observer, before it has the type that the program sees.
enum Told<Change> {
  case initial
  case update(Change)
  case error(any Error)
}
