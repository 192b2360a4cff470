import RealmStorage

/// What objects are sorted by.
public struct SortDescriptor: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
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

  public typealias UnicodeScalarLiteralType = StringLiteralType
  public typealias ExtendedGraphemeClusterLiteralType = StringLiteralType

  /// The key path and the direction, to read by people.
  public var description: String {
    "SortDescriptor(keyPath: \(keyPath), direction: \(ascending ? "ascending" : "descending"))"
  }

  /// The other way round.
  public func reversed() -> SortDescriptor { SortDescriptor(keyPath: keyPath, ascending: !ascending) }
}

// Queries of collections of objects. Asked of a collection of values, they stop the program.
extension RealmCollection {
  /// The objects of which a condition holds.
  public func `where`(_ condition: (Query<Element>) -> Query<Bool>) -> Results<Element> {
    let content = managedContent("queried")
    return Results(content.filtered(condition(.object()).bound(to: content.context)))
  }

  /// The same objects by the value of a property; null comes first in ascending order, texts are ordered by their bytes.
  /// Where the way to the property is a link that is nil, the object comes last in ascending order, and first in the other.
  public func sorted(byKeyPath keyPath: String, ascending: Bool = true) -> Results<Element> {
    sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
  }

  /// By the first descriptor, and among equals by the next.
  public func sorted<S: Sequence>(by descriptors: S) -> Results<Element>
  where S.Iterator.Element == SortDescriptor {
    let content = managedContent("sorted")
    return Results(content.adding(.sort(content.context.sortKeys(descriptors))))
  }
}

extension RealmCollection where Element: ObjectBase {
  /// The same objects by the value of a property; null comes first in ascending order, texts and data are ordered by
  /// their bytes. Where the way to the property is a link that is nil, the object comes last in ascending order, and first
  /// in the other. Equal ones keep their order. Values of any type come in the order null, truth values, numbers by their
  /// value, texts, data, dates, object ids, UUIDs, objects.
  ///
  /// The objects are put in order when they are first asked for, and again when the realm has changed: in
  /// time that grows with their number.
  public func sorted<Value: _HasPersistedType>(
    by keyPath: KeyPath<Element, Value>, ascending: Bool = true
  ) -> Results<Element> where Value.PersistedType: SortableType {
    sorted(by: [SortDescriptor(keyPath: keyPath, ascending: ascending)])
  }
}

/// Classes whose objects are told apart and put in order by key paths to their properties.
public protocol KeypathSortable {}

extension ObjectBase: KeypathSortable {}

extension RealmCollection {
  /// Of the objects with the same values of some properties the first, in the order so far. The properties are named by names joined by dots, all but the last of which link
  /// to one object. Nil is a value like any other, and so is what stands behind a link that is nil; texts are told apart by their bytes.
  ///
  /// A filter that is added later may change which is the first: filters are asked before all else. Sorts and distinct values are taken in the order they were added.
  public func distinct<S: Sequence>(by keyPaths: S) -> Results<Element> where S.Iterator.Element == String {
    let content = managedContent("made distinct")
    let paths = keyPaths.map { PropertyPath.find($0, of: content.context, "told apart") }
    return Results(content.adding(.distinct(paths)))
  }

  /// The same by the properties that key paths lead to.
  public func distinct<S: Sequence>(by keyPaths: S) -> Results<Element>
  where Element: KeypathSortable, S.Iterator.Element == PartialKeyPath<Element>, Element: ObjectBase {
    distinct(by: keyPaths.map { PropertyRecorder.names($0).joined(separator: ".") })
  }

  /// The place of the first object of which a condition holds; nil where there is none.
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

/// The names of the properties that a key path leads over, joined by dots.
public func _name<T: ObjectBase>(for keyPath: PartialKeyPath<T>) -> String {
  PropertyRecorder.names(keyPath).joined(separator: ".")
}
