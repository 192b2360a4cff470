import Foundation
import RealmStorage

/// The operations by which an object is added to a realm, for one property. Their code is compiled for the property's
/// type.
///
/// `PersistedField` has the same operations for any type, but looks up the type's metadata at each call. Adding an
/// object would then take several times as long.
struct FieldAccess {
  /// See `PersistedField.stored`.
  let stored: (ObjectBase, Int, _RowOfObject) -> Value
  /// See `PersistedField.adopter`.
  let adopt: (ObjectBase, _ offset: Int) -> Void
  /// Puts the value into a row that is being made. It is nil for types whose values run code of the program, which might read
  /// the table meanwhile.
  let insert: ((ObjectBase, _ offset: Int, inout NewRow, _ column: Int) throws(StorageError) -> Void)?

  init(_ field: any PersistedField.Type, position: Int) {
    self = Self.known(field, position) ?? FieldAccess(any: field, position)
  }

  init(any field: any PersistedField.Type, _ position: Int) {
    stored = { object, offset, row in field.stored(object, at: offset, row) }
    adopt = field.adopter(position: position)
    insert = nil
  }

  /// Inlined, so that each use is compiled for its own type.
  @inline(__always)
  private init<Value: _Persistable>(of type: Value.Type, _ position: Int) {
    stored = { object, offset, row in Persisted<Value>.stored(object, at: offset, row) }
    adopt = { object, offset in Persisted<Value>.adopt(object, at: offset, position: position) }
    insert = { (object, offset, row, column) throws(StorageError) in
      try Persisted<Value>.current(object, offset)._put(column, of: &row)
    }
  }

  private static func known(_ field: any PersistedField.Type, _ position: Int) -> FieldAccess? {
    switch field.valueType {
    case is Int.Type: FieldAccess(of: Int.self, position)
    case is Int64.Type: FieldAccess(of: Int64.self, position)
    case is Int32.Type: FieldAccess(of: Int32.self, position)
    case is Bool.Type: FieldAccess(of: Bool.self, position)
    case is Double.Type: FieldAccess(of: Double.self, position)
    case is Float.Type: FieldAccess(of: Float.self, position)
    case is String.Type: FieldAccess(of: String.self, position)
    case is Data.Type: FieldAccess(of: Data.self, position)
    case is Date.Type: FieldAccess(of: Date.self, position)
    case is UUID.Type: FieldAccess(of: UUID.self, position)
    case is ObjectId.Type: FieldAccess(of: ObjectId.self, position)
    case is Decimal128.Type: FieldAccess(of: Decimal128.self, position)
    case is Int?.Type: FieldAccess(of: Int?.self, position)
    case is Double?.Type: FieldAccess(of: Double?.self, position)
    case is String?.Type: FieldAccess(of: String?.self, position)
    case is Date?.Type: FieldAccess(of: Date?.self, position)
    default: nil
    }
  }
}
