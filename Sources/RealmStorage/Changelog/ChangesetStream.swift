/// Writes the bytes of a changeset, instruction by instruction.
struct ChangesetStream {
  /// The places of names, by the bytes of the names. Two names may be equal in Unicode and differ in their bytes.
  private var places: [[UInt8]: Int] = [:]
  private var names: [UInt8] = []
  private var body: [UInt8] = []
  private var run: Run?
  /// Elements that are inserted one behind another. They are written when something else follows.
  private struct Run {
    var path: InstructionPath
    var first: ElementID
    var left: ElementID
    var right: ElementID
    var last: ElementID
    var count = 0
    var values: [UInt8] = []

    func goesOn(_ path: InstructionPath, _ id: ElementID, _ left: ElementID, _ right: ElementID) -> Bool {
      left == last && id.replica == last.replica && UInt64(id.counter) == UInt64(last.counter) + 1
        && right == self.right && path == self.path
    }
  }

  var isEmpty: Bool { body.isEmpty && run == nil }

  /// The approximate number of bytes so far.
  var count: Int { names.count + body.count + (run?.values.count ?? 0) }

  /// Returns the bytes of the changeset, and empties the stream.
  mutating func finish() -> [UInt8] {
    endRun()
    var bytes: [UInt8] = []
    bytes.reserveCapacity(names.count + body.count + 8)
    bytes.appendVarint(UInt64(places.count))
    bytes += names
    bytes += body
    bytes.append(ChangesetTag.end)
    self = ChangesetStream()
    return bytes
  }

  /// The place of a name among the names. A new name is added.
  mutating func place(of name: String) -> Int {
    let bytes = Array(name.utf8)
    if let place = places[bytes] { return place }
    let place = places.count
    places[bytes] = place
    ValueCoding.append(name, to: &names)
    return place
  }

  // MARK: - Objects

  /// Begins the instructions of an object.
  mutating func begin(_ object: ObjectName) {
    endRun()
    let table = place(of: object.table)
    body.append(ChangesetTag.object)
    body.appendVarint(UInt64(table))
    ValueCoding.appendMixed(object.key, to: &body)
  }

  /// Creates the object of a row.
  ///
  /// - Parameters:
  ///   - table: the place of the table's name.
  ///   - places: the places of the column names, by the positions of the columns.
  mutating func create(_ rows: CreatedRows, _ row: Int, table: Int, places: [Int]) {
    endRun()
    body.append(ChangesetTag.object)
    body.appendVarint(UInt64(table))
    body += rows.names.bytes[rows.names.range(row)]
    body.append(ChangesetTag.create)
    for column in rows.columns.indices {
      let form = rows.columns[column].forms[row]
      guard form == .set || form == .setDefault else { continue }
      body.append(form == .set ? ChangesetTag.set : ChangesetTag.setDefault)
      body.appendVarint(UInt64(places[rows.columns[column].position]))
      body.append(0)
      body += rows.columns[column].bytes[rows.columns[column].range(row)]
    }
  }

  mutating func append(_ instruction: Instruction) {
    if case .insert(let path, let id, let left, let right, let value) = instruction {
      return insert(path, id, left, right, value)
    }
    endRun()
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
    case .insert: break
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
        number(place(of: property))
        append(value)
      }
    }
  }

  private mutating func insert(
    _ path: InstructionPath, _ id: ElementID, _ left: ElementID, _ right: ElementID, _ value: InstructionValue
  ) {
    if run?.goesOn(path, id, left, right) != true {
      endRun()
      run = Run(path: path, first: id, left: left, right: right, last: id)
    }
    // The values of a run are moved into the body when the run ends, because the path, the ids and the count that come
    // before them are not written until then.
    let start = body.count
    append(value)
    run?.values += body[start...]
    body.removeSubrange(start...)
    run?.count += 1
    run?.last = id
  }

  private mutating func endRun() {
    guard let run else { return }
    self.run = nil
    append(run.count > 1 ? ChangesetTag.insertRun : ChangesetTag.insert, run.path)
    append(run.first)
    append(run.left)
    append(run.right)
    if run.count > 1 { number(run.count) }
    body += run.values
  }

  // MARK: - Schema

  mutating func append(_ instruction: SchemaInstruction) {
    endRun()
    switch instruction {
    case .addTable(let table, let key):
      body.append(ChangesetTag.addTable)
      number(place(of: table))
      number(key == nil ? 0 : 1)
      if let key { append(key) }
    case .addProperty(let table, let property):
      body.append(ChangesetTag.addProperty)
      number(place(of: table))
      append(property)
    }
  }

  private mutating func append(_ property: PropertyDefinition) {
    number(place(of: property.name))
    body.append(property.type.rawValue)
    body.append(property.collection?.rawValue ?? 0)
    body.append((property.isOptional ? 1 : 0) | (property.target == nil ? 0 : 2))
    if let target = property.target { number(place(of: target)) }
  }

  // MARK: - Parts

  private mutating func append(_ tag: UInt8, _ path: InstructionPath) {
    body.append(tag)
    number(place(of: path.property))
    number(path.steps.count)
    for step in path.steps {
      switch step {
      case .property(let property):
        body.append(ChangesetTag.property)
        number(place(of: property))
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
      number(place(of: object.table))
      ValueCoding.appendMixed(object.key, to: &body)
    case .collection(let kind):
      body.append(ChangesetTag.emptyCollection)
      body.append(kind.rawValue)
    case .list(let elements):
      body.append(ChangesetTag.list)
      number(elements.count)
      for element in elements { append(element) }
    case .map(let keys, let values):
      body.append(ChangesetTag.map)
      number(keys.count)
      for (key, value) in zip(keys, values) {
        ValueCoding.append(key, to: &body)
        append(value)
      }
    case .embedded: body.append(ChangesetTag.embedded)
    case .chunked(let hash, let length, let isText):
      body.append(isText ? ChangesetTag.chunkedText : ChangesetTag.chunkedData)
      body += hash
      number(Int(length))
    }
  }

  private mutating func append(_ id: ElementID) {
    number(Int(id.replica))
    number(Int(id.counter))
  }

  private mutating func number(_ count: Int) { body.appendVarint(UInt64(count)) }
}
