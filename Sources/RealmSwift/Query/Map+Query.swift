import RealmStorage

// Queries of maps whose values are links to objects: of the objects that the values link to, in the order of the keys. Values that are nil are left out.

/// A map as queries of its objects see it.
protocol MapOfObjects {
  /// Nil of an unmanaged map, and of values.
  var objectContent: _CollectionContent? { get }
}

extension RealmKeyedCollection {
  /// What queries read; what can't be done with an unmanaged map stops the program.
  func managedContent(_ what: String) -> _CollectionContent {
    guard let content = (self as? any MapOfObjects)?.objectContent else {
      raise(
        "Unmanaged collection",
        "a \(Self.self) that is not in a realm, or holds no objects, can't be \(what); add its object first.")
    }
    return content
  }

  /// The objects of which a condition holds. The results are live.
  ///
  /// - Precondition: the map is managed.
  public func `where`(_ condition: (Query<Value>) -> Query<Bool>) -> Results<Value> {
    let content = managedContent("queried")
    return Results(content.filtered(condition(.object()).bound(to: content.context)))
  }

  /// The objects of which a condition in the format of `NSPredicate` holds: see `RealmCollection.filter(_:_:)`.
  ///
  /// - Precondition: the map is managed.
  public func filter(_ predicateFormat: String, _ args: Any?...) -> Results<Value> {
    let content = managedContent("filtered")
    return Results(content.filtered(content.context.predicate(format: predicateFormat, args)))
  }

  /// The objects by the value of a property: see `RealmCollection.sorted(byKeyPath:ascending:)`.
  ///
  /// - Precondition: the map is managed.
  public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Value> {
    sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
  }

  /// The objects by the first descriptor, and among equals by the next.
  ///
  /// - Precondition: the map is managed.
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

  /// The least value of a property of the objects, nulls and NaN aside; nil without any. O(n).
  public func min<T: _HasPersistedType>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType {
    aggregates.minimum(property)
  }
  /// The greatest value of a property of the objects, nulls and NaN aside; nil without any. O(n).
  public func max<T: _HasPersistedType>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType {
    aggregates.maximum(property)
  }
  /// The sum of a property's values, nulls and NaN aside; zero without any. O(n).
  ///
  /// - Precondition: a sum of whole numbers does not pass 64 bits.
  public func sum<T: _HasPersistedType>(ofProperty property: String) -> T where T.PersistedType: AddableType {
    aggregates.sum(property)
  }
  /// The average of a property's values, nulls and NaN aside; nil without any. As a whole number it is cut towards zero. O(n).
  public func average<T: _HasPersistedType>(ofProperty property: String) -> T?
  where T.PersistedType: AddableType {
    aggregates.average(property)
  }
}

extension RealmKeyedCollection where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
  /// The objects by the property that a key path leads to.
  ///
  /// - Precondition: the map is managed.
  public func sorted<Sorted: _HasPersistedType>(
    by keyPath: KeyPath<Value.Wrapped, Sorted>, ascending: Bool = true
  ) -> Results<Value> where Sorted.PersistedType: SortableType {
    sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
  }

  /// The least value of a property of the objects, nulls and NaN aside; nil without any. O(n).
  public func min<T: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, T>) -> T?
  where T.PersistedType: MinMaxType {
    min(ofProperty: PropertyRecorder.names(keyPath).joined(separator: "."))
  }
  /// The greatest value of a property of the objects, nulls and NaN aside; nil without any. O(n).
  public func max<T: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, T>) -> T?
  where T.PersistedType: MinMaxType {
    max(ofProperty: PropertyRecorder.names(keyPath).joined(separator: "."))
  }
  /// The sum of a property's values, nulls and NaN aside; zero without any. O(n).
  ///
  /// - Precondition: a sum of whole numbers fits the property's type.
  public func sum<T: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, T>) -> T
  where T.PersistedType: AddableType {
    sum(ofProperty: PropertyRecorder.names(keyPath).joined(separator: "."))
  }
  /// The average of a property's values, nulls and NaN aside; nil without any. As a whole number it is cut towards zero. O(n).
  public func average<T: _HasPersistedType>(of keyPath: KeyPath<Value.Wrapped, T>) -> T?
  where T.PersistedType: AddableType {
    average(ofProperty: PropertyRecorder.names(keyPath).joined(separator: "."))
  }
}

extension RealmKeyedCollection {
  /// Whether an entry passes a test. O(n).
  public func contains(where predicate: (_ key: Key, _ value: Value) throws -> Bool) rethrows -> Bool {
    for key in keys {
      if let value = self[key], try predicate(key, value) { return true }
    }
    return false
  }
}

extension Map: MapOfObjects {}
