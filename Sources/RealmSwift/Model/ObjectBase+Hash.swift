import RealmStorage

extension ObjectBase {
  final var hashOfUnmanaged: Int {
    let model = ObjectModel.of(type(of: self))
    guard let key = model.primaryKey.map({ model.properties[$0] }) else {
      return ObjectIdentifier(self).hashValue
    }
    return key.access.stored(self, key.offset) { _ in nil }.hashValue
  }
}

extension ManagedRow {
  /// That of the primary key; nil of a class without one.
  ///
  /// That of a row is kept, since an object may be deleted while it is in a set.
  var hashOfKey: Int? {
    guard let key = context.binding.model.primaryKey else { return nil }
    guard isThere else { return context.hashesOfKeys[row] ?? row.hashValue }
    let hash = value(key).hashValue
    if context.hashesOfKeys[row] != hash { context.hashesOfKeys[row] = hash }
    return hash
  }
}
