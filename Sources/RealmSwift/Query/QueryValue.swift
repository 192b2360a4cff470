import Foundation
import RealmQuery
import RealmStorage

/// A value with which a typed query compares.
class QueryValue {
  /// The value as the program wrote it.
  var written: Any { "" }

  /// The argument by which the value is searched for in a realm.
  func argument(in session: RealmSession) -> QueryArgument { .value(.null) }
}

/// A value of the type of a property.
final class PropertyValue<Value: _Persistable>: QueryValue {
  private let value: Value

  init(_ value: Value) { self.value = value }

  override var written: Any { plain(value) }
  override func argument(in session: RealmSession) -> QueryArgument {
    session.argument { value._stored($0) }
  }
}

/// A value whose type is found when the query runs.
final class AnyQueryValue: QueryValue {
  private let value: Any

  init(_ value: Any) { self.value = value }

  override var written: Any { plain(value) }
  override func argument(in session: RealmSession) -> QueryArgument { session.argument(of: value) }
}

/// An element of a collection, or a value of a map.
final class ElementValue<Value: RealmCollectionValue>: QueryValue {
  private let value: Value

  init(_ value: Value) { self.value = value }

  override var written: Any { plain(value) }
  override func argument(in session: RealmSession) -> QueryArgument {
    session.argument { value._elementValue($0) }
  }
}

/// Several values.
final class QueryValues: QueryValue {
  private let values: [QueryValue]

  init(_ values: [QueryValue]) { self.values = values }

  override var written: Any { values.map(\.written) }
  override func argument(in session: RealmSession) -> QueryArgument {
    .list(values.map { $0.argument(in: session) })
  }
}

/// A value in its stored form, for a property of an embedded object.
final class StoredQueryValue: QueryValue {
  private let value: RealmStorage.Value

  init(_ value: RealmStorage.Value) { self.value = value }

  override var written: Any { value }
  override func argument(in session: RealmSession) -> QueryArgument { .value(value) }
}

/// A key of a map, or an index of a list.
final class QueryPlace: QueryValue {
  private let place: RealmStorage.Value

  init(_ place: RealmStorage.Value) { self.place = place }

  override var written: Any {
    switch place {
    case .int(let index): Int(index)
    case .string(let key): key
    default: ""
    }
  }
  override func argument(in session: RealmSession) -> QueryArgument { .value(place) }
}

extension RealmSession {
  /// The argument for a value. For an object it consists of the class and the row. An object that is in no realm gets a
  /// row that does not exist.
  ///
  /// - Parameter stored: returns the stored value, and calls its parameter for the row of an object.
  func argument(_ stored: (_RowOfObject) -> Value) -> QueryArgument {
    var found: Value?
    let value = stored { object in
      let row = rowToFind(object)
      found = .typedLink(table: contextToFind(object)?.binding.table?.id ?? 0, row: row)
      return row
    }
    if case .link = value, let found { return .value(found) }
    return .value(value)
  }

  /// The row of an object with which a query compares. If the object is in no realm, or was invalidated, it is a row
  /// that does not exist.
  private func rowToFind(_ object: ObjectBase) -> UInt64 {
    if let other = object.context, other.session !== self {
      raise(
        "Object of another realm",
        "a \(other.binding.model.name) of another realm, or of another thread's, can't be searched for; "
          + "find it in this one first.")
    }
    return contextToFind(object)?.row(of: object) ?? .max
  }

  /// The context of the class in which an object is searched for; nil for a dynamic object that is in no realm.
  private func contextToFind(_ object: ObjectBase) -> ObjectContext? {
    object.asDynamic == nil ? context(type(of: object)) : object.context
  }
}

/// The value inside an optional, or `NSNull` if it is nil.
func plain(_ any: Any) -> Any {
  if isNull(any) { return NSNull() }
  return (any as? any OptionalValue)?.content ?? any
}
