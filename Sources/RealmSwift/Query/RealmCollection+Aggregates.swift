import RealmStorage

/// Sums and extremes of a property of objects. For a managed collection the engine finds them in the table. For any other
/// collection they are computed from the values of its objects, by the same rules.
struct ObjectAggregates {
  private let content: _CollectionContent?
  private let type: ObjectBase.Type
  private let objects: () -> [ObjectBase]

  /// - Parameters:
  ///   - content: the content of a managed collection; nil for any other.
  ///   - type: the class of the objects. Another type stops the program.
  ///   - objects: the objects of a collection that is not managed.
  init(
    _ content: _CollectionContent?, of type: Any.Type, _ objects: @autoclosure @escaping () -> [ObjectBase]
  ) {
    guard let type = type as? ObjectBase.Type else {
      raise("Collection of values", "a \(type) has no properties; leave out the property's name.")
    }
    self.content = content
    self.type = type
    self.objects = objects
  }

  func minimum<T: _HasPersistedType>(_ property: String) -> T? {
    guard let content else {
      let values = values(of: property, .date)
      return Aggregate.extreme(Value.minimum(of: values.all), as: T.self, of: values.name)
    }
    let found = content.aggregate(property, .date) { (table, column, rows) throws(StorageError) in
      try table.minimum(column, of: rows)
    }
    return Aggregate.extreme(found ?? .null, as: T.self, of: content.name(property))
  }

  func maximum<T: _HasPersistedType>(_ property: String) -> T? {
    guard let content else {
      let values = values(of: property, .date)
      return Aggregate.extreme(Value.maximum(of: values.all), as: T.self, of: values.name)
    }
    let found = content.aggregate(property, .date) { (table, column, rows) throws(StorageError) in
      try table.maximum(column, of: rows)
    }
    return Aggregate.extreme(found ?? .null, as: T.self, of: content.name(property))
  }

  func sum<T: _HasPersistedType>(_ property: String) -> T {
    let (sum, name): (Sum, String)
    if let content {
      let found = content.aggregate(property) { (table, column, rows) throws(StorageError) in
        try table.sum(column, of: rows)
      }
      (sum, name) = (found ?? .integer(0), content.name(property))
    } else {
      let values = values(of: property)
      (sum, name) = (Sum(of: values.all, type: values.type), values.name)
    }
    guard let result = Aggregate.result(sum, as: T.self, of: name) else {
      raise("Invalid sum", "the sum of \(name) is no \(T.self); ask for it as a wider type.")
    }
    return result
  }

  func average<T: _HasPersistedType>(_ property: String) -> T? {
    guard let content else {
      let values = values(of: property)
      return Aggregate.result(ofAverage: Value.average(of: values.all, type: values.type), as: T.self)
    }
    return content.aggregate(property) { (table, column, rows) throws(StorageError) in
      try table.average(column, of: rows)
    }
    .flatMap { Aggregate.result(ofAverage: $0, as: T.self) }
  }

  /// The values of a property of the objects in a collection that is not managed.
  private func values(of property: String, _ other: ColumnType? = nil) -> (
    all: [Value], type: ColumnType, name: String
  ) {
    let objects = objects()
    // Dynamic objects may be of different classes.
    let model = type.isDynamic ? objects.first?.ownModel : ObjectModel.of(type)
    guard let model else { return ([], .int64, property) }
    let column = model.properties[model.position(ofNumbers: property, other)].type.column
    let values = objects.map { object in
      let model = type.isDynamic ? object.ownModel : model
      let position = model.position(ofNumbers: property, other)
      let found = model.properties[position]
      return object.keptContext == nil
        ? found.access.stored(object, found.offset) { _ in nil } : object.stored(position)
    }
    return (values, column, "\(model.name).\(property)")
  }
}

extension RealmCollection {
  private var aggregates: ObjectAggregates {
    ObjectAggregates(_content, of: Element.self, compactMap { $0 as? ObjectBase })
  }

  /// The least value of a property, without nil and NaN; nil if there is none. O(n).
  public func min<T: _HasPersistedType>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType {
    aggregates.minimum(property)
  }

  /// The greatest value of a property, without nil and NaN; nil if there is none. O(n).
  public func max<T: _HasPersistedType>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType {
    aggregates.maximum(property)
  }

  /// The sum of a property, without nil and NaN; zero if there are no values. O(n).
  ///
  /// - Precondition: a sum of whole numbers does not exceed 64 bits.
  public func sum<T: _HasPersistedType>(ofProperty property: String) -> T where T.PersistedType: AddableType {
    aggregates.sum(property)
  }

  /// The average of a property, without nil and NaN; nil if there are no values. If it is asked for as a whole number, it is
  /// rounded towards zero. O(n).
  public func average<T: _HasPersistedType>(ofProperty property: String) -> T?
  where T.PersistedType: AddableType {
    aggregates.average(property)
  }
}

extension RealmCollection where Element: ObjectBase {
  /// The least value of a property, without nil and NaN; nil if there is none. O(n).
  ///
  /// - Precondition: the property is one of the class itself, not of objects that it links to.
  public func min<T: _HasPersistedType>(of keyPath: KeyPath<Element, T>) -> T?
  where T.PersistedType: MinMaxType {
    min(ofProperty: PropertyRecorder.names(keyPath).joined(separator: "."))
  }
  /// The greatest value of a property, without nil and NaN; nil if there is none. O(n).
  ///
  /// - Precondition: the property is one of the class itself, not of objects that it links to.
  public func max<T: _HasPersistedType>(of keyPath: KeyPath<Element, T>) -> T?
  where T.PersistedType: MinMaxType {
    max(ofProperty: PropertyRecorder.names(keyPath).joined(separator: "."))
  }
  /// The sum of a property, without nil and NaN; zero if there are no values. O(n).
  ///
  /// - Precondition: the property is one of the class itself, and a sum of whole numbers fits its type.
  public func sum<T: _HasPersistedType>(of keyPath: KeyPath<Element, T>) -> T
  where T.PersistedType: AddableType {
    sum(ofProperty: PropertyRecorder.names(keyPath).joined(separator: "."))
  }
  /// The average of a property, without nil and NaN; nil if there are no values. If it is asked for as a whole number, it is
  /// rounded towards zero. O(n).
  ///
  /// - Precondition: the property is one of the class itself, not of objects that it links to.
  public func average<T: _HasPersistedType>(of keyPath: KeyPath<Element, T>) -> T?
  where T.PersistedType: AddableType {
    average(ofProperty: PropertyRecorder.names(keyPath).joined(separator: "."))
  }
}

extension ObjectModel {
  /// The position of a property that has sums and extremes. Any other property stops the program.
  ///
  /// - Parameter other: a type besides numbers that has this aggregate; nil if there is none.
  func position(ofNumbers property: String, _ other: ColumnType?) -> Int {
    guard let position = position(of: property), !properties[position].isComputed else {
      raise("Unknown property", "\(name) has no property \(property) that is stored.")
    }
    let type = properties[position].type
    guard type.column.isNumber || type.column == other, type.form == .value else {
      raise(
        "Invalid aggregate",
        "\(name).\(property) is of type \(properties[position].field.valueType), of which there is none; "
          + "name a property of numbers.")
    }
    return position
  }
}
