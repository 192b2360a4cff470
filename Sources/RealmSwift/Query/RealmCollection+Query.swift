import RealmStorage

/// A property by which objects are sorted, and the direction.
public struct SortDescriptor: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// Property names joined by dots. All but the last are links to one object.
  public let keyPath: String
  /// Whether the least value comes first; otherwise the greatest does.
  public let ascending: Bool

  /// Sorts by property names joined by dots. If the class does not have these properties, sorting stops the program.
  public init(keyPath: String, ascending: Bool = true) {
    self.keyPath = keyPath
    self.ascending = ascending
  }

  /// Sorts by the property that a key path leads to. A key path to no stored property stops the program.
  public init<Element: ObjectBase>(keyPath: PartialKeyPath<Element>, ascending: Bool = true) {
    self.init(keyPath: PropertyRecorder.names(keyPath).joined(separator: "."), ascending: ascending)
  }

  /// Sorts in ascending order by property names joined by dots.
  public init(stringLiteral keyPath: String) { self.init(keyPath: keyPath) }

  public typealias UnicodeScalarLiteralType = StringLiteralType
  public typealias ExtendedGraphemeClusterLiteralType = StringLiteralType

  /// The key path and the direction, for people to read.
  public var description: String {
    "SortDescriptor(keyPath: \(keyPath), direction: \(ascending ? "ascending" : "descending"))"
  }

  /// The same key path in the other direction.
  public func reversed() -> SortDescriptor { SortDescriptor(keyPath: keyPath, ascending: !ascending) }
}

// Queries of collections of objects. For a collection of values they stop the program.
extension RealmCollection {
  /// The objects for which a condition holds. The results are live.
  ///
  /// - Precondition: the collection is managed and holds objects.
  public func `where`(_ condition: (Query<Element>) -> Query<Bool>) -> Results<Element> {
    let content = managedContent("queried")
    return Results(content.filtered(condition(.object()).bound(to: content.context)))
  }

  /// The objects, sorted by a property. In ascending order null comes first; texts are ordered by their bytes. An object whose
  /// path to the property has a link that is nil comes last in ascending order and first in descending order. The results are
  /// live.
  ///
  /// - Parameter keyPath: property names joined by dots; all but the last link to one object, and the last is a single value that
  ///   is no link. Other names stop the program.
  /// - Precondition: the collection is managed and holds objects.
  public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Element> {
    sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
  }

  /// The objects, sorted by the first descriptor, and by the following ones where the first is equal. The results are live.
  ///
  /// - Precondition: the collection is managed and holds objects.
  public func sorted<S: Sequence>(by descriptors: S) -> Results<Element>
  where S.Iterator.Element == SortDescriptor {
    let content = managedContent("sorted")
    return Results(content.adding(.sort(content.context.sortKeys(descriptors))))
  }
}

extension RealmCollection where Element: ObjectBase {
  /// The objects, sorted by a property. In ascending order null comes first; texts and data are ordered by their bytes. An object
  /// whose path to the property has a link that is nil comes last in ascending order and first in descending order. Objects with
  /// equal values keep their order. Values of any type are ordered by kind: null, truth values, numbers by their value, texts,
  /// data, dates, object ids, UUIDs, objects.
  ///
  /// The results are live. The objects are sorted when they are first read, and again when the realm has changed, in time that
  /// grows with their number.
  ///
  /// - Precondition: the collection is managed.
  public func sorted<Value: _HasPersistedType>(
    by keyPath: KeyPath<Element, Value>, ascending: Bool = true
  ) -> Results<Element> where Value.PersistedType: SortableType {
    sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
  }
}

/// Classes whose objects can be sorted, and made distinct, by key paths to their properties.
public protocol KeypathSortable {}

extension ObjectBase: KeypathSortable {}

extension RealmCollection {
  /// The first of the objects that have the same values in some properties, in the current order. Nil is a value like any other,
  /// and so is a property behind a link that is nil. Texts are compared by their bytes. The results are live.
  ///
  /// A filter that is added later may change which object is the first: filters are applied before sorting and distinct values,
  /// unless a query with a LIMIT comes between. Sorting and distinct values are applied in the order in which they were added.
  ///
  /// - Parameter keyPaths: for each property, names joined by dots; all but the last link to one object. Other names stop the
  ///   program.
  /// - Precondition: the collection is managed and holds objects.
  public func distinct<S: Sequence>(by keyPaths: S) -> Results<Element> where S.Iterator.Element == String {
    let content = managedContent("made distinct")
    let paths = keyPaths.map { PropertyPath.find($0, of: content.context, "told apart") }
    return Results(content.adding(.distinct(paths)))
  }

  /// The first of the objects that have the same values in the properties that key paths lead to: see `distinct(by:)` with names.
  public func distinct<S: Sequence>(by keyPaths: S) -> Results<Element>
  where Element: KeypathSortable, S.Iterator.Element == PartialKeyPath<Element>, Element: ObjectBase {
    distinct(by: keyPaths.map { PropertyRecorder.names($0).joined(separator: ".") })
  }

  /// The index of the first object for which a condition holds; nil if there is none.
  ///
  /// - Precondition: the collection is managed and holds objects.
  public func index(matching condition: (Query<Element>) -> Query<Bool>) -> Int? {
    let content = managedContent("queried")
    return content.index(where: condition(.object()).bound(to: content.context))
  }
}

extension ObjectContext {
  func sortKeys(_ descriptors: some Sequence<SortDescriptor>) -> [SortKey] {
    descriptors.map { SortKey(PropertyPath.find($0.keyPath, of: self), ascending: $0.ascending) }
  }
}

/// The names of the properties that a key path leads through, joined by dots.
public func _name<T: ObjectBase>(for keyPath: PartialKeyPath<T>) -> String {
  PropertyRecorder.names(keyPath).joined(separator: ".")
}
