/// The bytes of a changeset that creates objects with values of properties and does nothing else. The bytes were
/// checked: all of them can be read. No value was made of them.
///
/// The first step of a client consists of such changesets. If it creates many objects, making their values would take
/// most of the time.
package struct CreatedObjects: Sendable, Equatable {
  package let bytes: [UInt8]
  /// The message that brought the bytes, if a message did. It is stored if the objects have to be kept for a while.
  package var message: [UInt8]?
  /// The number of creations.
  package let count: Int
  let names: [String]
  /// The offset at which the first creation begins.
  let start: Int

  /// The result is nil if the changeset has anything else in it or can't be read. This takes time in proportion to the
  /// bytes, and memory in proportion to the names in them.
  ///
  /// - Parameter most: the greatest number of parts, of which each object counts as two and each value as one. The
  ///   result is nil if there are more, because values of them may be made later.
  package init?(_ bytes: [UInt8], most: Int = .max) {
    var reader = ByteReader(bytes)
    guard let names = Self.names(&reader) else { return nil }
    start = reader.offset
    var (count, left) = (0, most)
    while let tag = reader.next, tag != ChangesetTag.end {
      guard Self.skipCreation(&reader, names: names.count, &left) else { return nil }
      count += 1
    }
    guard reader.skip(1), reader.isAtEnd else { return nil }
    (self.bytes, self.names, self.count) = (bytes, names, count)
  }

  /// - Precondition: the bytes are such a changeset with `count` creations.
  init(_ bytes: [UInt8], count: Int) {
    var reader = ByteReader(bytes)
    names = Self.names(&reader) ?? []
    start = reader.offset
    (self.bytes, self.count) = (bytes, count)
  }

  package static func == (left: CreatedObjects, right: CreatedObjects) -> Bool { left.bytes == right.bytes }

  /// The creations as values, in their order. Takes time and memory in proportion to them.
  package var objects: [ObjectInstructions] {
    var reader = ByteReader(bytes, at: start)
    var made: [ObjectInstructions] = []
    for _ in 0..<count {
      _ = reader.skip(1)
      let table = names[Int(truncatingIfNeeded: reader.varint() ?? 0)]
      let key = ValueCoding.mixed(&reader, levels: 0) ?? .null
      _ = reader.skip(1)
      var instructions: [Instruction] = [.create]
      while let tag = reader.next, tag == ChangesetTag.set || tag == ChangesetTag.setDefault {
        _ = reader.skip(1)
        let path = InstructionPath(names[Int(truncatingIfNeeded: reader.varint() ?? 0)])
        _ = reader.skip(1)
        let value = ValueCoding.mixed(&reader, levels: 0) ?? .null
        instructions.append(.set(path, .value(value), isDefault: tag == ChangesetTag.setDefault))
      }
      made.append(ObjectInstructions(ObjectName(table, key), instructions))
    }
    return made
  }

  /// The greatest number of names of classes and properties. A name takes memory, but may stand in one byte.
  private static let mostNames = 1 << 16

  private static func names(_ reader: inout ByteReader) -> [String]? {
    guard let count = reader.varint(), count <= UInt64(min(reader.count, mostNames)) else { return nil }
    var names: [String] = []
    for _ in 0..<count {
      guard let name = reader.text() else { return nil }
      names.append(name)
    }
    return names
  }

  private static func skipCreation(_ reader: inout ByteReader, names: Int, _ left: inout Int) -> Bool {
    left -= 2
    guard left >= 0, reader.integer(UInt8.self) == ChangesetTag.object, skipName(&reader, names),
      skipKey(&reader),
      reader.integer(UInt8.self) == ChangesetTag.create
    else { return false }
    while let tag = reader.next, tag == ChangesetTag.set || tag == ChangesetTag.setDefault {
      left -= 1
      guard left >= 0, reader.skip(1), skipName(&reader, names), reader.integer(UInt8.self) == 0,
        ValueCoding.skipSingle(&reader)
      else { return false }
    }
    return true
  }

  private static func skipName(_ reader: inout ByteReader, _ names: Int) -> Bool {
    guard let place = reader.varint() else { return false }
    return place < UInt64(names)
  }

  private static func skipKey(_ reader: inout ByteReader) -> Bool {
    switch reader.next.map({ ColumnType(rawValue: $0) }) {
    case .some(nil): return reader.integer(UInt8.self) == 0
    case .int64, .string, .uuid, .objectID: return ValueCoding.skipSingle(&reader)
    default: return false
    }
  }
}

extension ValueCoding {
  /// Skips a mixed value that is neither a link nor nested. Returns false for other bytes.
  static func skipSingle(_ reader: inout ByteReader) -> Bool {
    guard let tag = reader.integer(UInt8.self) else { return false }
    guard tag != 0 else { return true }
    switch ColumnType(rawValue: tag) {
    case .bool: return reader.integer(UInt8.self).map { $0 <= 1 } ?? false
    case .int64: return reader.varint() != nil
    case .float: return reader.skip(4)
    case .double: return reader.skip(8)
    case .string: return reader.skipCounted(isText: true)
    case .data: return reader.skipCounted(isText: false)
    case .date:
      guard reader.varint() != nil, let rest = reader.varint() else { return false }
      return rest < 1_000_000_000
    case .objectID: return reader.skip(12)
    case .uuid, .decimal128: return reader.skip(16)
    case .link, .mixed, nil: return false
    }
  }
}
