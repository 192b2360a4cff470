import RealmStorage

// Queries of maps whose values are links to objects. They search the objects that the values link to, in the order of the keys.
// Values that are nil are left out.

/// A map whose objects can be queried.
protocol MapOfObjects {
  /// The content that queries read; nil for an unmanaged map, and for a map whose values are no objects.
  var objectContent: _CollectionContent? { get }
}

extension RealmKeyedCollection {
  /// The content that queries read. An unmanaged map, and a map of values that are no objects, stops the program.
  func managedContent(_ what: String) -> _CollectionContent {
    guard let content = (self as? any MapOfObjects)?.objectContent else {
      raise(
        "Unmanaged collection",
        "a \(Self.self) that is not in a realm, or holds no objects, can't be \(what); add its object first.")
    }
    return content
  }

  /// The objects for which a condition holds. The results are live.
  ///
  /// - Precondition: the map is managed and holds objects.
  public func `where`(_ condition: (Query<Value>) -> Query<Bool>) -> Results<Value> {
    let content = managedContent("queried")
    return Results(content.filtered(condition(.object()).bound(to: content.context)))
  }

  /// The objects for which a condition in the format of `NSPredicate` holds. The results are live. See
  /// `RealmCollection.filter(_:_:)`.
  ///
  /// - Precondition: the map is managed and holds objects.
  public func filter(_ predicateFormat: String, _ args: Any?...) -> Results<Value> {
    let content = managedContent("filtered")
    return Results(content.filtered(content.context.predicate(format: predicateFormat, args)))
  }

  /// The objects, sorted by a property. The results are live. See `RealmCollection.sorted(byKeyPath:ascending:)`.
  ///
  /// - Precondition: the map is managed and holds objects.
  public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Value> {
    sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
  }

  /// The objects, sorted by the first descriptor, and by the following ones where the first is equal. The results are live.
  ///
  /// - Precondition: the map is managed and holds objects.
  public func sorted<S: Sequence>(by descriptors: S) -> Results<Value>
  where S.Iterator.Element == SortDescriptor {
    let content = managedContent("sorted")
    return Results(content.adding(.sort(content.context.sortKeys(descriptors))))
  }

  private var aggregates: ObjectAggregates {
    ObjectAggregates(
      (self as? any MapOfObjects)?.objectContent, of: Value._elementType.target ?? Value.self,
      values.compactMap { plain($0) as? ObjectBase })
  }

  /// The least value of a property of the objects, without nil and NaN; nil if there is none. O(n).
  public func min<T: _HasPersistedType>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType {
    aggregates.minimum(property)
  }
  /// The greatest value of a property of the objects, without nil and NaN; nil if there is none. O(n).
  public func max<T: _HasPersistedType>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType {
    aggregates.maximum(property)
  }
  /// The sum of a property of the objects, without nil and NaN; zero if there are no values. O(n).
  ///
  /// - Precondition: a sum of whole numbers does not exceed 64 bits.
  public func sum<T: _HasPersistedType>(ofProperty property: String) -> T where T.PersistedType: AddableType {
    aggregates.sum(property)
  }
  /// The average of a property of the objects, without nil and NaN; nil if there are no values. If it is asked for as a whole
  /// number, it is rounded towards zero. O(n).
  public func average<T: _HasPersistedType>(ofProperty property: String) -> T?
  where T.PersistedType: AddableType {
    aggregates.average(property)
  }
}

extension RealmKeyedCollection where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
  /// The objects, sorted by the property that a key path leads to. The results are live.
  ///
  /// - Precondition: the map is managed and holds objects.
  public func sorted<Sorted: _HasPersistedType>(
    by keyPath: KeyPath<Value.Wrapped, Sorted>, ascending: Bool = true
  ) -> Results<Value> where Sorted.PersistedType: SortableType {
    sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
  }

  /// The least value of a property of the objects, without nil and NaN; nil if there is none. O(n).
  public func min<T: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, T>) -> T?
  where T.PersistedType: MinMaxType {
    min(ofProperty: PropertyRecorder.names(keyPath).joined(separator: "."))
  }
  /// The greatest value of a property of the objects, without nil and NaN; nil if there is none. O(n).
  public func max<T: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, T>) -> T?
  where T.PersistedType: MinMaxType {
    max(ofProperty: PropertyRecorder.names(keyPath).joined(separator: "."))
  }
  /// The sum of a property of the objects, without nil and NaN; zero if there are no values. O(n).
  ///
  /// - Precondition: a sum of whole numbers fits the type of the property.
  public func sum<T: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, T>) -> T
  where T.PersistedType: AddableType {
    sum(ofProperty: PropertyRecorder.names(keyPath).joined(separator: "."))
  }
  /// The average of a property of the objects, without nil and NaN; nil if there are no values. If it is asked for as a whole
  /// number, it is rounded towards zero. O(n).
  public func average<T: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, T>) -> T?
  where T.PersistedType: AddableType {
    average(ofProperty: PropertyRecorder.names(keyPath).joined(separator: "."))
  }
}

extension RealmKeyedCollection {
  /// Whether an entry satisfies a condition. O(n).
  public func contains(where predicate: (_ key: Key, _ value: Value) throws -> Bool) rethrows -> Bool {
    for key in keys {
      if let value = self[key], try predicate(key, value) { return true }
    }
    return false
  }
}

extension Map: MapOfObjects {}
