/// How changesets stand in files and messages (FORMAT.md, "Changesets").
///
/// Numbers are varints, texts their length and bytes, single values mixed values (`ValueCoding`). All names of tables and properties stand at the beginning, and are told by their
/// places from then on.
enum ChangesetTag {
  static let create: UInt8 = 1
  static let delete: UInt8 = 2
  static let set: UInt8 = 3
  static let setDefault: UInt8 = 4
  static let add: UInt8 = 5
  static let newEmbedded: UInt8 = 6
  static let killEmbedded: UInt8 = 7
  static let insert: UInt8 = 8
  /// Elements that were inserted one behind another.
  static let insertRun: UInt8 = 9
  static let move: UInt8 = 10
  static let erase: UInt8 = 11
  static let setInsert: UInt8 = 12
  static let setErase: UInt8 = 13
  static let clear: UInt8 = 14
  static let ingest: UInt8 = 15

  static let addTable: UInt8 = 1
  static let addProperty: UInt8 = 2

  static let property: UInt8 = 1
  static let key: UInt8 = 2
  static let element: UInt8 = 3
  static let collection: UInt8 = 4

  /// Behind those of mixed values.
  static let absent: UInt8 = 32
  static let link: UInt8 = 33
  static let emptyCollection: UInt8 = 34
  static let chunkedText: UInt8 = 35
  static let chunkedData: UInt8 = 36

  static let hashLength = 32
}

extension Changeset {
  /// The bytes that `init(bytes:)` reads. Whoever makes a changeset looks that no path is longer than `InstructionPath.mostSteps`, and that values
  /// are no links or collections: the reader refuses others.
  package var bytes: [UInt8] {
    var writer = ChangesetWriter()
    writer.append(self)
    return writer.finished
  }
}

private struct ChangesetWriter {
  /// The places of names, by their bytes: two names may be the same to Unicode and differ in their bytes.
  private var names: [[UInt8]: Int] = [:]
  private var inOrder: [String] = []
  private var body: [UInt8] = []

  var finished: [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendVarint(UInt64(inOrder.count))
    for name in inOrder { ValueCoding.append(name, to: &bytes) }
    return bytes + body
  }

  mutating func append(_ changeset: Changeset) {
    number(changeset.schema.count)
    for instruction in changeset.schema { append(instruction) }
    number(changeset.objects.count)
    for object in changeset.objects {
      append(object.id)
      let runs = Self.runs(object.instructions)
      number(runs.count)
      for run in runs { append(object.instructions[run]) }
    }
  }

  /// Stretches of instructions that stand as one: those that insert one element behind another.
  private static func runs(_ instructions: [Instruction]) -> [Range<Int>] {
    var runs: [Range<Int>] = []
    for index in instructions.indices {
      if let last = runs.last, continues(instructions[index - 1], instructions[index]) {
        runs[runs.count - 1] = last.lowerBound..<index + 1
      } else {
        runs.append(index..<index + 1)
      }
    }
    return runs
  }

  private static func continues(_ first: Instruction, _ second: Instruction) -> Bool {
    guard case .insert(let path, let id, _, let right, _) = first,
      case .insert(let otherPath, let next, let left, let otherRight, _) = second
    else { return false }
    return path == otherPath && left == id && right == otherRight && next.replica == id.replica
      && UInt64(next.counter) == UInt64(id.counter) + 1
  }

  private mutating func append(_ run: ArraySlice<Instruction>) {
    guard run.count > 1, case .insert(let path, let id, let left, let right, _)? = run.first else {
      for instruction in run { append(instruction) }
      return
    }
    append(ChangesetTag.insertRun, path)
    append(id)
    append(left)
    append(right)
    number(run.count)
    for case .insert(_, _, _, _, let value) in run { append(value) }
  }

  private mutating func append(_ instruction: Instruction) {
    switch instruction {
    case .create: body.append(ChangesetTag.create)
    case .delete: body.append(ChangesetTag.delete)
    case .set(let path, let value, let isDefault):
      append(isDefault ? ChangesetTag.setDefault : ChangesetTag.set, path)
      append(value)
    case .add(let path, let delta):
      append(ChangesetTag.add, path)
      ValueCoding.append(.int(delta), to: &body)
    case .newEmbedded(let path): append(ChangesetTag.newEmbedded, path)
    case .killEmbedded(let path): append(ChangesetTag.killEmbedded, path)
    case .insert(let path, let id, let left, let right, let value):
      append(ChangesetTag.insert, path)
      append(id)
      append(left)
      append(right)
      append(value)
    case .move(let path, let element, let id, let left, let right):
      append(ChangesetTag.move, path)
      for id in [element, id, left, right] { append(id) }
    case .erase(let path, let element):
      append(ChangesetTag.erase, path)
      append(element)
    case .setInsert(let path, let value):
      append(ChangesetTag.setInsert, path)
      append(value)
    case .setErase(let path, let value):
      append(ChangesetTag.setErase, path)
      append(value)
    case .clear(let path, let kind):
      append(ChangesetTag.clear, path)
      body.append(kind.rawValue)
    case .ingest(let properties, let values):
      body.append(ChangesetTag.ingest)
      number(values.count)
      for (property, value) in zip(properties, values) {
        name(property)
        append(value)
      }
    }
  }

  private mutating func append(_ instruction: SchemaInstruction) {
    switch instruction {
    case .addTable(let table, let key):
      body.append(ChangesetTag.addTable)
      name(table)
      number(key == nil ? 0 : 1)
      if let key { append(key) }
    case .addProperty(let table, let property):
      body.append(ChangesetTag.addProperty)
      name(table)
      append(property)
    }
  }

  private mutating func append(_ property: PropertyDefinition) {
    name(property.name)
    body.append(property.type.rawValue)
    body.append(property.collection?.rawValue ?? 0)
    body.append((property.isOptional ? 1 : 0) | (property.target == nil ? 0 : 2))
    if let target = property.target { name(target) }
  }

  private mutating func append(_ tag: UInt8, _ path: InstructionPath) {
    body.append(tag)
    name(path.property)
    number(path.steps.count)
    for step in path.steps {
      switch step {
      case .property(let property):
        body.append(ChangesetTag.property)
        name(property)
      case .key(let key):
        body.append(ChangesetTag.key)
        ValueCoding.append(key, to: &body)
      case .element(let id):
        body.append(ChangesetTag.element)
        append(id)
      case .collection(let kind, let made):
        body.append(ChangesetTag.collection)
        body.append(kind.rawValue)
        body.appendVarint(made ?? 0)
      }
    }
  }

  private mutating func append(_ value: InstructionValue) {
    switch value {
    case .absent: body.append(ChangesetTag.absent)
    case .value(let value): ValueCoding.appendMixed(value, to: &body)
    case .link(let object):
      body.append(ChangesetTag.link)
      append(object)
    case .collection(let kind):
      body.append(ChangesetTag.emptyCollection)
      body.append(kind.rawValue)
    case .chunked(let hash, let length, let isText):
      body.append(isText ? ChangesetTag.chunkedText : ChangesetTag.chunkedData)
      body += hash
      number(Int(length))
    }
  }

  private mutating func append(_ object: ObjectName) {
    name(object.table)
    ValueCoding.appendMixed(object.key, to: &body)
  }

  private mutating func append(_ id: ElementID) {
    number(Int(id.replica))
    number(Int(id.counter))
  }

  private mutating func name(_ name: String) {
    let bytes = Array(name.utf8)
    let place = names[bytes] ?? inOrder.count
    if place == inOrder.count {
      names[bytes] = place
      inOrder.append(name)
    }
    number(place)
  }

  private mutating func number(_ count: Int) { body.appendVarint(UInt64(count)) }
}
