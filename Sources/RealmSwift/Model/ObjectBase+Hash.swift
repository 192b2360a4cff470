import RealmStorage

extension ObjectBase {
  final var hashOfUnmanaged: Int {
    let model = ownModel
    guard let key = model.primaryKey.map({ model.properties[$0] }) else {
      return ObjectIdentifier(self).hashValue
    }
    return key.access.stored(self, key.offset) { _ in nil }.hashValue
  }
}

extension ManagedRow {
  /// That of the primary key; nil of a class without one, and of a row that is gone.
  var hashOfKey: Int? {
    guard let key = context.binding.model.primaryKey, isThere else { return nil }
    return value(key).hashValue
  }
}
