import RealmStorage

/// The settings of the server. They are stored in its file, because they must not be lost.
extension ServerStore {
  /// The settings in the file; nil if there are none.
  ///
  /// - Throws: `.corrupted`.
  func storedSettings() throws(StorageError) -> ServerState.Settings? {
    guard let bytes = try tree.value(for: [Kind.settings]) else { return nil }
    var reader = ByteReader(bytes)
    var settings = ServerState.Settings()
    guard let isPartitioned = reader.integer(UInt8.self), let property = reader.text(),
      let count = reader.varint(), count <= UInt64(reader.count)
    else { throw tree.damaged }
    if isPartitioned != 0 { settings.partitionProperty = property }
    for _ in 0..<count {
      guard let table = reader.text(), let fields = reader.varint(), fields <= UInt64(reader.count) else {
        throw tree.damaged
      }
      var names: [String] = []
      for _ in 0..<fields {
        guard let name = reader.text() else { throw tree.damaged }
        names.append(name)
      }
      settings.fields[table] = names
    }
    guard reader.isAtEnd else { throw tree.damaged }
    return settings
  }

  func store(_ settings: ServerState.Settings) throws(StorageError) {
    var bytes: [UInt8] = [settings.partitionProperty == nil ? 0 : 1]
    ValueCoding.append(settings.partitionProperty ?? "", to: &bytes)
    bytes.appendVarint(UInt64(settings.fields.count))
    for (table, fields) in settings.fields.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
    {
      ValueCoding.append(table, to: &bytes)
      bytes.appendVarint(UInt64(fields.count))
      for field in fields { ValueCoding.append(field, to: &bytes) }
    }
    try tree.set(bytes, for: [Kind.settings])
  }
}
