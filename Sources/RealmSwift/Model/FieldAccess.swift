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

  init(_ field: any PersistedField.Type, position: Int) {
    self = Self.known(field) ?? FieldAccess(any: field, position)
  }

  private init(any field: any PersistedField.Type, _ position: Int) {
    stored = { object, offset, row in field.stored(object, at: offset, row) }
    let adopter = field.adopter(position: position)
    adopt = { object, offset, _ in adopter(object, offset) }
    insert = nil
  }

  /// Inlined, so that each use is compiled for its type.
  @inline(__always)
  private init<Value: _Persistable>(of type: Value.Type) {
    stored = { object, offset, row in Persisted<Value>.stored(object, at: offset, row) }
    adopt = { object, offset, position in Persisted<Value>.adopt(object, at: offset, position: position) }
    insert = { (object, offset, row, column) throws(StorageError) in
      try Persisted<Value>.current(object, offset)._put(column, of: &row)
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
