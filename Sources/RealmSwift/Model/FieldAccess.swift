import Foundation
import RealmStorage

/// What adding an object does with each of its properties, as code for the property's very type.
///
/// `PersistedField` does the same for any type, by looking up its metadata at each call: an object takes several times as
/// long to add.
struct FieldAccess {
  /// See `PersistedField.stored`.
  let stored: (ObjectBase, Int, _RowOfObject) -> Value
  /// See `PersistedField.adopt`.
  let adopt: (ObjectBase, _ offset: Int, _ position: Int) -> Void
  /// Puts the value into a row that is being made; nil of types whose values run code that might read the table
  /// meanwhile.
  let insert: ((ObjectBase, _ offset: Int, inout NewRow, _ column: Int) throws(StorageError) -> Void)?

  init(_ field: any PersistedField.Type) { self = Self.known(field) ?? FieldAccess(any: field) }

  private init(any field: any PersistedField.Type) {
    stored = { object, offset, row in field.stored(object, at: offset, row) }
    adopt = { object, offset, position in field.adopt(object, at: offset, position: position) }
    insert = nil
  }

  /// Inlined, so that each use is compiled for its type.
  @inline(__always)
  private init<Value: _Persistable>(of type: Value.Type) {
    stored = { object, offset, row in Persisted<Value>.stored(object, at: offset, row) }
    adopt = { object, offset, position in Persisted<Value>.adopt(object, at: offset, position: position) }
    insert = { (object, offset, row, column) throws(StorageError) in
      switch Persisted<Value>.current(object, offset) {
      case let number as Int: try row.set(column, Int64(number))
      case let flag as Bool: try row.set(column, flag)
      case let number as Double: try row.set(column, number)
      case let text as String: try row.set(column, text)
      case let value: try row.set(column, value._stored { _ in nil })
      }
    }
  }

  private static func known(_ field: any PersistedField.Type) -> FieldAccess? {
    switch field.valueType {
    case is Int.Type: FieldAccess(of: Int.self)
    case is Int64.Type: FieldAccess(of: Int64.self)
    case is Int32.Type: FieldAccess(of: Int32.self)
    case is Bool.Type: FieldAccess(of: Bool.self)
    case is Double.Type: FieldAccess(of: Double.self)
    case is Float.Type: FieldAccess(of: Float.self)
    case is String.Type: FieldAccess(of: String.self)
    case is Data.Type: FieldAccess(of: Data.self)
    case is Date.Type: FieldAccess(of: Date.self)
    case is UUID.Type: FieldAccess(of: UUID.self)
    case is ObjectId.Type: FieldAccess(of: ObjectId.self)
    case is Decimal128.Type: FieldAccess(of: Decimal128.self)
    case is Int?.Type: FieldAccess(of: Int?.self)
    case is Double?.Type: FieldAccess(of: Double?.self)
    case is String?.Type: FieldAccess(of: String?.self)
    case is Date?.Type: FieldAccess(of: Date?.self)
    default: nil
    }
  }
}
