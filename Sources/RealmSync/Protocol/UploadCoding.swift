import RealmStorage

extension UploadMessage {
  /// The hash names the changeset together with all changesets before it. A client must never send two contents under
  /// one sequence.
  ///
  /// The base does not count. The stamp counts, because two copies of a file may write the same content, and these are
  /// two changesets.
  package var hash: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(counted: previous)
    bytes.appendVarint(sequence)
    bytes.append(stamp: stamp)
    bytes.appendVarint(querySet)
    bytes.append(flag: isAllOrNothing)
    appendChangeset(to: &bytes)
    return bytes.contentHash
  }

  private func appendChangeset(to bytes: inout [UInt8]) {
    bytes.append(replicas: replicas)
    bytes.append(counted: changeset.bytes)
  }
}

extension UploadMessage: MessagePart {
  init(from reader: inout MessageReader) throws(MessageDamage) {
    self.init(
      sequence: try reader.number("sequence"), previous: try reader.hash("hash before", mayBeEmpty: true),
      base: try reader.number("base"), stamp: try reader.stamp("stamp"),
      querySet: try reader.number("number of the query set"), isAllOrNothing: try reader.flag("flags"),
      replicas: try reader.replicas(),
      changeset: try reader.changeset("changeset", mostInstructions: MessageLimit.uploadInstructions))
  }

  func append(to bytes: inout [UInt8]) {
    bytes.appendVarint(sequence)
    bytes.append(counted: previous)
    bytes.appendVarint(base)
    bytes.append(stamp: stamp)
    bytes.appendVarint(querySet)
    bytes.append(flag: isAllOrNothing)
    appendChangeset(to: &bytes)
  }
}

extension ValueChunk: MessagePart {
  init(from reader: inout MessageReader) throws(MessageDamage) {
    let hash = try reader.hash("hash of a value")
    let offset = try reader.number("offset")
    let length = try reader.number("length of the value")
    let start = reader.offset
    let bytes = try reader.bytes("bytes of the value")
    guard offset <= length, UInt64(bytes.count) <= length - offset else {
      throw reader.damage("bytes of the value", .disagrees, at: start)
    }
    self.init(hash: hash, offset: offset, length: length, bytes: bytes)
  }

  func append(to bytes: inout [UInt8]) {
    bytes.append(counted: hash)
    bytes.appendVarint(offset)
    bytes.appendVarint(length)
    bytes.append(counted: self.bytes)
  }
}
