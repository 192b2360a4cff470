import RealmStorage

// Queries of maps whose values are links to objects: of the objects that the values link to, in the order of the keys. Values that are nil are left out.

extension Map where Value: OptionalProtocol, Value.Wrapped: ObjectBase {
  /// What queries read; what can't be done with an unmanaged map stops the program.
  func managedContent(_ what: String) -> _CollectionContent {
    guard let content = objectContent(of: Value.Wrapped.self) else {
      raise(
        "Unmanaged collection",
        "a \(Self.self) that is not in a realm can't be \(what); add its object first.")
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

  /// The objects by the property that a key path leads to.
  ///
  /// - Precondition: the map is managed.
  public func sorted<Sorted: _HasPersistedType>(
    by keyPath: KeyPath<Value.Wrapped, Sorted>, ascending: Bool = true
  ) -> Results<Value> where Sorted.PersistedType: SortableType {
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

  /// The objects as an array of the class, in the order of the keys.
  private var objects: [Value.Wrapped] {
    values.compactMap { ($0 as Any?).flatMap { $0 as? Value.Wrapped } }
  }

  /// The least value of a property of the objects, nulls and NaN aside; nil without any. O(n).
  public func min<T: _HasPersistedType>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType {
    ObjectAggregates(objectContent(of: Value.Wrapped.self), self.objects).minimum(property)
  }
  /// The greatest value of a property of the objects, nulls and NaN aside; nil without any. O(n).
  public func max<T: _HasPersistedType>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType {
    ObjectAggregates(objectContent(of: Value.Wrapped.self), self.objects).maximum(property)
  }
  /// The sum of a property's values, nulls and NaN aside; zero without any. O(n).
  ///
  /// - Precondition: a sum of whole numbers does not pass 64 bits.
  public func sum<T: _HasPersistedType>(ofProperty property: String) -> T where T.PersistedType: AddableType {
    ObjectAggregates(objectContent(of: Value.Wrapped.self), self.objects).sum(property)
  }
  /// The average of a property's values, nulls and NaN aside; nil without any. As a whole number it is cut towards zero. O(n).
  public func average<T: _HasPersistedType>(ofProperty property: String) -> T?
  where T.PersistedType: AddableType {
    ObjectAggregates(objectContent(of: Value.Wrapped.self), self.objects).average(property)
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

extension Map {
  /// Whether an entry passes a test. O(n).
  public func contains(
    where predicate: (SingleMapEntry<Key, Value>) throws -> Bool
  ) rethrows -> Bool {
    for entry in self where try predicate(entry) { return true }
    return false
  }
}
