import RealmStorage

/// What objects are sorted by.
public struct SortDescriptor: Hashable, Sendable, ExpressibleByStringLiteral {
  /// Property names joined by dots; all but the last link to one object.
  public let keyPath: String
  /// From the least value to the greatest; else the other way round.
  public let ascending: Bool

  /// By property names joined by dots. Where the class has no such properties, sorting stops the program.
  public init(keyPath: String, ascending: Bool = true) {
    self.keyPath = keyPath
    self.ascending = ascending
  }

  /// By the property that a key path leads to. One to no property that is stored stops the program.
  public init<Element: ObjectBase>(keyPath: PartialKeyPath<Element>, ascending: Bool = true) {
    self.init(keyPath: PropertyRecorder.names(keyPath).joined(separator: "."), ascending: ascending)
  }

  /// Ascending, by property names joined by dots.
  public init(stringLiteral keyPath: String) { self.init(keyPath: keyPath) }

  /// The other way round.
  public func reversed() -> SortDescriptor { SortDescriptor(keyPath: keyPath, ascending: !ascending) }
}

extension RealmCollection where Element: ObjectBase {
  /// The objects of which a condition holds.
  public func `where`(_ condition: (Query<Element>) -> Query<Bool>) -> Results<Element> {
    let content = managedContent("queried")
    let query = condition(Query<Element>(.path([])))
    return Results(content.filtered(query.node.condition.bound(to: content.context)))
  }

  /// The same objects by the value of a property; null comes first in ascending order, texts are ordered by their bytes.
  public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Element> {
    sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
  }

  /// The same objects by the value of a property; null comes first in ascending order, texts are ordered by
  /// their bytes. Equal ones keep their order.
  ///
  /// The objects are put in order when they are first asked for, and again when the realm has changed: in
  /// time that grows with their number.
  public func sorted<Value: _HasPersistedType>(
    by keyPath: KeyPath<Element, Value>, ascending: Bool = true
  ) -> Results<Element> where Value.PersistedType: SortableType {
    sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
  }

  /// By the first descriptor, and among equals by the next.
  public func sorted<S: Sequence>(by descriptors: S) -> Results<Element>
  where S.Iterator.Element == SortDescriptor {
    let content = managedContent("sorted")
    let keys = descriptors.map { descriptor in
      let names = descriptor.keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      PropertyPath.checkSortable(names, of: content.context)
      return SortKey(PropertyPath.find(names, of: content.context).path, ascending: descriptor.ascending)
    }
    return Results(content.sorted(keys))
  }

  // MARK: - Aggregates

  /// The least value of a property, nulls aside; nil without any.
  public func min<T: _HasPersistedType>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType {
    let content = managedContent("searched for its least value")
    let found = content.aggregate(property, .date) { (table, column, rows) throws(StorageError) in
      try table.minimum(column, of: rows)
    }
    return Aggregate.extreme(found ?? .null, as: T.self, of: content.name(property))
  }

  /// The greatest value of a property, nulls aside; nil without any.
  public func max<T: _HasPersistedType>(ofProperty property: String) -> T? where T.PersistedType: MinMaxType {
    let content = managedContent("searched for its greatest value")
    let found = content.aggregate(property, .date) { (table, column, rows) throws(StorageError) in
      try table.maximum(column, of: rows)
    }
    return Aggregate.extreme(found ?? .null, as: T.self, of: content.name(property))
  }

  /// The sum of a property's values, nulls aside; zero without any.
  ///
  /// - Precondition: a sum of whole numbers does not pass 64 bits.
  public func sum<T: _HasPersistedType>(ofProperty property: String) -> T where T.PersistedType: AddableType {
    let content = managedContent("added up")
    let sum = content.aggregate(property) { (table, column, rows) throws(StorageError) in
      try table.sum(column, of: rows)
    }
    let name = content.name(property)
    guard let result = Aggregate.result(sum ?? .integer(0), as: T.self, of: name) else {
      raise("Invalid sum", "the sum of \(name) is no \(T.self).")
    }
    return result
  }

  /// The average of a property's values, nulls aside; nil without any. As a whole number it is cut towards zero.
  public func average<T: _HasPersistedType>(ofProperty property: String) -> T?
  where T.PersistedType: AddableType {
    managedContent("averaged")
      .aggregate(property) { (table, column, rows) throws(StorageError) in try table.average(column, of: rows)
      }
      .flatMap { Aggregate.result(ofAverage: $0, as: T.self) }
  }

  /// The least value of a property, nulls and NaN aside; nil without any. Takes time in
  /// proportion to the objects.
  ///
  /// - Precondition: the property is one of the class itself, not of objects that it links to.
  public func min<T: _HasPersistedType>(of keyPath: KeyPath<Element, T>) -> T?
  where T.PersistedType: MinMaxType {
    min(ofProperty: PropertyRecorder.names(keyPath).joined(separator: "."))
  }
  /// The greatest value of a property, nulls and NaN aside; nil without any. Takes time in
  /// proportion to the objects.
  ///
  /// - Precondition: the property is one of the class itself, not of objects that it links to.
  public func max<T: _HasPersistedType>(of keyPath: KeyPath<Element, T>) -> T?
  where T.PersistedType: MinMaxType {
    max(ofProperty: PropertyRecorder.names(keyPath).joined(separator: "."))
  }
  /// The sum of a property's values, nulls and NaN aside; zero without any. Takes time in
  /// proportion to the objects.
  ///
  /// - Precondition: the property is one of the class itself, and a sum of whole numbers fits its type.
  public func sum<T: _HasPersistedType>(of keyPath: KeyPath<Element, T>) -> T
  where T.PersistedType: AddableType {
    sum(ofProperty: PropertyRecorder.names(keyPath).joined(separator: "."))
  }
  /// The average of a property's values, nulls and NaN aside; nil without any. As a whole number it is cut
  /// towards zero. Takes time in proportion to the objects.
  ///
  /// - Precondition: the property is one of the class itself, not of objects that it links to.
  public func average<T: _HasPersistedType>(of keyPath: KeyPath<Element, T>) -> T?
  where T.PersistedType: AddableType {
    average(ofProperty: PropertyRecorder.names(keyPath).joined(separator: "."))
  }
}

extension PropertyPath {
  static func checkSortable(_ names: [String], of context: ObjectContext) {
    var model = context.binding.model
    for (index, name) in names.enumerated() {
      guard let position = model.position(of: name) else { return }
      let property = model.properties[position]
      if property.type.form != .value {
        raise("Invalid sort", "\(model.name).\(name) is a collection; objects are sorted by single values.")
      }
      if index + 1 == names.count, property.type.column == .link {
        raise(
          "Invalid sort",
          "\(model.name).\(name) links to objects, which have no order; name a property of theirs.")
      }
      if let target = property.type.target { model = ObjectModel.of(target) }
    }
  }
}

/// What an aggregate found, as the type the caller asked for.
enum Aggregate {
  static func extreme<T>(_ value: Value, as type: T.Type, of name: String) -> T? {
    if let found = result(value, as: type) { return found }
    let number: Double? =
      switch value {
      case .int(let number): Double(number)
      case .float(let number): Double(number)
      case .double(let number): number
      default: nil
      }
    if let found = number.flatMap({ result(average: $0, as: type) }) { return found }
    if case .null = value { return nil }
    raise("Invalid aggregate", "a value of \(name) is no \(T.self); ask for the type of the property.")
  }

  static func result<T>(_ value: Value, as type: T.Type) -> T? {
    if case .null = value { return nil }
    if let scalar = T.self as? any _Scalar.Type { return load(value, scalar) as? T }
    if let optional = T.self as? any WrappingScalar.Type { return optional.wrapped(value) as? T }
    return nil
  }

  static func result<T>(_ sum: Sum, as type: T.Type, of name: String) -> T? {
    switch sum {
    case .integer(let number):
      return result(.int(number), as: type) ?? result(average: Double(number), as: type)
    case .double(let number): return result(average: number, as: type)
    case .decimal(let number): return result(.decimal128(number), as: type)
    case .overflow: raise("Overflow", "the sum of \(name) passes 64 bits; add up parts of it.")
    }
  }

  static func result<T>(ofAverage value: Value, as type: T.Type) -> T? {
    guard case .double(let number) = value else { return result(value, as: type) }
    return result(average: number, as: type)
  }

  static func result<T>(average number: Double, as type: T.Type) -> T? {
    if let found = result(.double(number), as: type) ?? result(.float(Float(number)), as: type) {
      return found
    }
    return Int64(exactly: number.rounded(.towardZero)).flatMap { result(.int($0), as: type) }
  }

  fileprivate static func load<S: _Scalar>(_ value: Value, _ type: S.Type) -> Any? { S._load(value) }
}

private protocol WrappingScalar {
  static func wrapped(_ value: Value) -> Any?
}
extension Optional: WrappingScalar where Wrapped: _Scalar {
  static func wrapped(_ value: Value) -> Any? { Wrapped._load(value).map { Optional.some($0) as Any } }
}
