/// The error for bytes that are not a changeset.
package struct ChangesetDamage: Error, Sendable, Equatable, CustomStringConvertible {
  package enum Part: String, Sendable {
    case names, schema, object, key, path, instruction, value, id, end
    /// There are more instructions than allowed.
    case count
  }

  package var part: Part
  /// The position that the reader had reached in the bytes.
  package var offset: Int

  package var description: String {
    switch part {
    case .count: "A changeset has more instructions than are allowed, the first of them at byte \(offset)."
    case .end: "A changeset is damaged: it does not end at byte \(offset), where it should."
    default: "A changeset is damaged: its \(part.rawValue) at byte \(offset) can't be read."
    }
  }
}

extension Changeset {
  /// Reads the bytes that `bytes` made. Takes time and memory in proportion to the bytes, whatever they are.
  ///
  /// - Parameter mostInstructions: the greatest number of instructions, objects, definitions, steps of paths and values
  ///   in lists and maps together, and of names. More are refused, because an instruction may stand in one byte, and
  ///   takes a hundred times as many in memory.
  package init(bytes: [UInt8], mostInstructions: Int = .max) throws(ChangesetDamage) {
    var reader = ChangesetReader(bytes, mostInstructions)
    self = try reader.changeset()
  }
}

private struct ChangesetReader {
  private var reader: ByteReader
  private let length: Int
  private var names: [String] = []
  /// The number of instructions and parts of instructions that may still follow.
  private var left: Int

  init(_ bytes: [UInt8], _ mostInstructions: Int) {
    reader = ByteReader(bytes)
    length = bytes.count
    left = mostInstructions
  }

  private func damage(_ part: ChangesetDamage.Part) -> ChangesetDamage {
    ChangesetDamage(part: part, offset: length - reader.count)
  }

  mutating func changeset() throws(ChangesetDamage) -> Changeset {
    let count = try count(.names)
    guard count <= left else { throw damage(.count) }
    for _ in 0..<count {
      guard let name = reader.text() else { throw damage(.names) }
      names.append(name)
    }
    var changeset = Changeset()
    var places: [ObjectName: Int] = [:]
    var current: Int?
    while let tag = reader.next, tag != ChangesetTag.end {
      switch tag {
      case ChangesetTag.object:
        try countInstructions(1)
        _ = try self.tag(.object)
        let id = try object()
        let place = places[id] ?? changeset.objects.count
        if place == changeset.objects.count {
          places[id] = place
          changeset.objects.append(ObjectInstructions(id, []))
        }
        current = place
      case ChangesetTag.addTable, ChangesetTag.addProperty:
        try countInstructions(1)
        changeset.schema.append(try schemaInstruction())
      default:
        guard let current else { throw damage(.instruction) }
        try countInstructions(1)
        try appendInstruction(to: &changeset.objects[current].instructions)
      }
    }
    guard try self.tag(.end) == ChangesetTag.end, reader.isAtEnd else { throw damage(.end) }
    return changeset
  }

  private mutating func countInstructions(_ count: Int) throws(ChangesetDamage) {
    guard count <= left else { throw damage(.count) }
    left -= count
  }

  /// Reads how many parts of an instruction follow, and counts them.
  private mutating func countOfParts(_ part: ChangesetDamage.Part) throws(ChangesetDamage) -> Int {
    let count = try count(part)
    try countInstructions(count)
    return count
  }

  /// Reads how many parts follow. Each part takes at least one byte.
  private mutating func count(_ part: ChangesetDamage.Part) throws(ChangesetDamage) -> Int {
    guard let count = reader.varint(), count <= UInt64(reader.count) else { throw damage(part) }
    return Int(count)
  }

  private mutating func name(_ part: ChangesetDamage.Part) throws(ChangesetDamage) -> String {
    guard let place = reader.varint(), place < UInt64(names.count) else { throw damage(part) }
    return names[Int(place)]
  }

  private mutating func tag(_ part: ChangesetDamage.Part) throws(ChangesetDamage) -> UInt8 {
    guard let tag = reader.integer(UInt8.self) else { throw damage(part) }
    return tag
  }

  // MARK: - Schema

  private mutating func schemaInstruction() throws(ChangesetDamage) -> SchemaInstruction {
    switch try tag(.schema) {
    case ChangesetTag.addTable:
      let table = try name(.schema)
      switch try tag(.schema) {
      case 0: return .addTable(table, key: nil)
      case 1: return .addTable(table, key: try property())
      default: throw damage(.schema)
      }
    case ChangesetTag.addProperty:
      let table = try name(.schema)
      return .addProperty(table: table, try property())
    default: throw damage(.schema)
    }
  }

  private mutating func property() throws(ChangesetDamage) -> PropertyDefinition {
    let name = try name(.schema)
    guard let type = ColumnType(rawValue: try tag(.schema)) else { throw damage(.schema) }
    let kind = try tag(.schema)
    let collection = CollectionKind(rawValue: kind)
    let flags = try tag(.schema)
    guard kind == 0 || collection != nil, flags < 4 else { throw damage(.schema) }
    var target: String?
    if flags & 2 != 0 { target = try self.name(.schema) }
    return PropertyDefinition(
      name, type, collection: collection, target: target, isOptional: flags & 1 != 0)
  }

  // MARK: - Objects

  private mutating func object() throws(ChangesetDamage) -> ObjectName {
    let table = try name(.object)
    guard let key = ValueCoding.mixed(&reader, levels: 0) else { throw damage(.key) }
    switch key {
    case .null, .int, .string, .uuid, .objectID: return ObjectName(table, key)
    default: throw damage(.key)
    }
  }

  private mutating func appendInstruction(to made: inout [Instruction]) throws(ChangesetDamage) {
    switch try tag(.instruction) {
    case ChangesetTag.create: made.append(.create)
    case ChangesetTag.delete: made.append(.delete)
    case ChangesetTag.set: made.append(.set(try path(), try value(), isDefault: false))
    case ChangesetTag.setDefault: made.append(.set(try path(), try value(), isDefault: true))
    case ChangesetTag.add:
      let path = try path()
      guard case .int(let delta)? = ValueCoding.value(.int64, &reader) else { throw damage(.value) }
      made.append(.add(path, delta))
    case ChangesetTag.newEmbedded: made.append(.newEmbedded(try path()))
    case ChangesetTag.killEmbedded: made.append(.killEmbedded(try path()))
    case ChangesetTag.insert:
      made.append(.insert(try path(), try id(), left: try id(), right: try id(), try value()))
    case ChangesetTag.insertRun: try appendRun(to: &made)
    case ChangesetTag.move:
      made.append(.move(try path(), try id(), id: try id(), left: try id(), right: try id()))
    case ChangesetTag.erase: made.append(.erase(try path(), try id()))
    case ChangesetTag.setInsert: made.append(.setInsert(try path(), try value()))
    case ChangesetTag.setErase: made.append(.setErase(try path(), try value()))
    case ChangesetTag.clear: made.append(.clear(try path(), try kind()))
    case ChangesetTag.ingest:
      var (properties, values): ([String], [InstructionValue]) = ([], [])
      for _ in 0..<(try countOfParts(.instruction)) {
        properties.append(try name(.instruction))
        values.append(try value())
      }
      made.append(.ingest(properties, values))
    default: throw damage(.instruction)
    }
  }

  private mutating func appendRun(to made: inout [Instruction]) throws(ChangesetDamage) {
    let path = try path()
    var (id, left) = (try id(), try id())
    let right = try self.id()
    let count = try count(.instruction)
    guard count > 1, UInt64(id.counter) + UInt64(count - 1) <= UInt64(UInt32.max) else {
      throw damage(.id)
    }
    try countInstructions(count)
    for place in 0..<count {
      made.append(.insert(path, id, left: left, right: right, try value()))
      left = id
      if place < count - 1 { id.counter += 1 }
    }
  }

  private mutating func path() throws(ChangesetDamage) -> InstructionPath {
    var path = InstructionPath(try name(.path))
    let count = try count(.path)
    guard count <= InstructionPath.mostSteps else { throw damage(.path) }
    try countInstructions(count)
    for _ in 0..<count {
      switch try tag(.path) {
      case ChangesetTag.property: path.steps.append(.property(try name(.path)))
      case ChangesetTag.key:
        guard let key = reader.text() else { throw damage(.path) }
        path.steps.append(.key(key))
      case ChangesetTag.element: path.steps.append(.element(try id()))
      case ChangesetTag.collection:
        let kind = try kind()
        guard let made = reader.varint() else { throw damage(.path) }
        path.steps.append(.collection(kind, made: made == 0 ? nil : made))
      default: throw damage(.path)
      }
    }
    return path
  }

  private mutating func kind() throws(ChangesetDamage) -> CollectionKind {
    guard let kind = CollectionKind(rawValue: try tag(.path)) else { throw damage(.path) }
    return kind
  }

  private mutating func id() throws(ChangesetDamage) -> ElementID {
    guard let replica = reader.varint().flatMap(UInt32.init(exactly:)),
      let counter = reader.varint().flatMap(UInt32.init(exactly:))
    else { throw damage(.id) }
    return ElementID(replica: replica, counter: counter)
  }

  /// - Parameter levels: the greatest number of lists and maps that may be nested.
  private mutating func value(
    levels: Int = Value.mostLevels
  ) throws(ChangesetDamage) -> InstructionValue {
    guard let next = reader.next else { throw damage(.value) }
    guard next >= ChangesetTag.absent else {
      // A link names its object by a tag of its own, and lists and maps have tags of their own, so they are refused
      // here.
      guard let value = ValueCoding.mixed(&reader, levels: 0) else { throw damage(.value) }
      if case .typedLink = value { throw damage(.value) }
      return .value(value)
    }
    switch try tag(.value) {
    case ChangesetTag.absent: return .absent
    case ChangesetTag.link: return .link(try object())
    case ChangesetTag.emptyCollection: return .collection(try kind())
    case ChangesetTag.list:
      var elements: [InstructionValue] = []
      for _ in 0..<(try countOfParts(.value)) { elements.append(try part(levels)) }
      return .list(elements)
    case ChangesetTag.map:
      var (keys, values): ([String], [InstructionValue]) = ([], [])
      for _ in 0..<(try countOfParts(.value)) {
        guard let key = reader.text() else { throw damage(.value) }
        if let last = keys.last, !last.utf8.lexicographicallyPrecedes(key.utf8) { throw damage(.value) }
        keys.append(key)
        values.append(try part(levels))
      }
      return .map(keys, values)
    case ChangesetTag.embedded: return .embedded
    case ChangesetTag.chunkedText: return try chunked(isText: true)
    case ChangesetTag.chunkedData: return try chunked(isText: false)
    default: throw damage(.value)
    }
  }

  /// A value in a list or map that is one value.
  private mutating func part(_ levels: Int) throws(ChangesetDamage) -> InstructionValue {
    guard levels > 1 else { throw damage(.value) }
    switch try value(levels: levels - 1) {
    case .absent, .collection, .embedded: throw damage(.value)
    case let part: return part
    }
  }

  private mutating func chunked(isText: Bool) throws(ChangesetDamage) -> InstructionValue {
    guard let hash = reader.bytes(ChangesetTag.hashLength),
      let length = reader.varint().flatMap(UInt32.init(exactly:))
    else { throw damage(.value) }
    return .chunked(hash: Array(hash), length: length, isText: isText)
  }
}
