import RealmStorage

extension ObjectBase {
  /// The hash of an unmanaged object: the hash of its primary key, or of its identity if the class has no primary key.
  final var hashOfUnmanaged: Int {
    let model = ownModel
    guard let key = model.primaryKey.map({ model.properties[$0] }) else {
      return ObjectIdentifier(self).hashValue
    }
    return key.access.stored(self, key.offset) { _ in nil }.hashValue
  }
}

extension ManagedRow {
  /// The hash of the primary key; nil if the class has none, or the row does not exist any more.
  var hashOfKey: Int? {
    guard let key = context.binding.model.primaryKey, isThere else { return nil }
    return value(key).hashValue
  }
}
