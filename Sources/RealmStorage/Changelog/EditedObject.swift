/// An object of a synced file into which instructions are merged. The content of its places is asked for before an
/// instruction is carried out.
///
/// It is used by one thread, while the transaction is open. It stands for a name: the object may not be in the file, or
/// may come and go. A deleted object keeps its row until `finish`, so that a program that holds the object keeps it if
/// the object comes back before.
package struct EditedObject {
  package let name: ObjectName
  let editor: ObjectEditor
  let table: TableWriter
  /// The key of the object's row; nil if the object is not in the file.
  package private(set) var row: UInt64?
  /// The row of the object while it counts as deleted.
  private var left: UInt64?

  init(_ name: ObjectName, _ editor: ObjectEditor) throws(StorageError) {
    (self.name, self.editor) = (name, editor)
    table = try editor.table(name.table)
    guard !table.schema.isEmbedded else { throw table.doesNotFit(.noTable, nil) }
    // One object is edited at a time, so the collections of the former object are written to the file.
    try editor.tables.closeCells()
    row = try editor.row(of: name, table)
  }

  package var isPresent: Bool { row != nil }

  /// The bytes that name the object in the file. They are not a prefix of the key of another object.
  package var key: [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendHighestFirst(table.schema.id)
    switch name.key {
    case .int(let number):
      bytes.append(1)
      bytes.appendHighestFirst(UInt64(bitPattern: number))
    case .string(let text):
      bytes.append(2)
      EditedPlace.append(text, to: &bytes)
    case .uuid(let id):
      bytes.append(3)
      bytes += id.bytes
    case .objectID(let id):
      bytes.append(4)
      bytes += id.bytes
    default: bytes.append(0)
    }
    return bytes
  }

  /// The values of properties that hold a single value each. A link counts as null, and so does a property that the
  /// class does not have. The result is nil if the object is not in the file.
  ///
  /// - Throws: `.corrupted`.
  package func values(of properties: [String]) throws(StorageError) -> [Value]? {
    guard let row else { return nil }
    var found: [Value] = []
    for property in properties {
      let column = table.schema.properties.first { $0.name.utf8.elementsEqual(property.utf8) }
      guard let column, column.type != .link, column.collection == .none else {
        found.append(.null)
        continue
      }
      found.append(try table.value(column, ofRow: row) ?? .null)
    }
    return found
  }

  /// True if objects of the class have a property with this name.
  package func hasProperty(_ name: String) -> Bool {
    table.schema.columns.contains { !$0.isCompanion && $0.name.utf8.elementsEqual(name.utf8) }
  }

  // MARK: - Changing

  /// Carries out an instruction, without asking whether it should take effect (`ObjectEditor`).
  ///
  /// - Parameter isNew: true if no list has an element or a place with the id that an inserted or moved element gets.
  ///   Otherwise this is checked, which takes time in proportion to the list.
  /// - Throws: `.instructionDoesNotFit`, with nothing changed; `.limitExceeded` and `.corrupted`, after which the
  ///   transaction can't be committed.
  package mutating func apply(_ instruction: Instruction, isNew: Bool = false) throws(StorageError) {
    switch instruction {
    case .delete:
      (left, row) = (row ?? left, nil)
      return
    case .create:
      guard row == nil else { return }
      guard let left else { break }
      (row, self.left) = (left, nil)
      return try changing { () throws(StorageError) in try editor.reset(table, left) }
    default: break
    }
    try changing { () throws(StorageError) in
      try editor.apply(instruction, to: name, table, row, isNew: isNew)
    }
    if instruction == .create { row = try editor.row(of: name, table) }
  }

  /// Creates the object with values of properties that hold one value each. This is faster than to set them one by one.
  ///
  /// - Returns: the ids of the columns of the properties. The result is nil, and nothing is done, if the object exists
  ///   or was deleted in this edit, if a property or a value does not fit or is a link, or if a property is set twice.
  package mutating func create(
    with values: [(property: String, value: Value)]
  ) throws(StorageError) -> [UInt16]? {
    guard row == nil, left == nil, let key = table.schema.columns.firstIndex(where: { $0.index == .unique })
    else {
      return nil
    }
    var positions: [Int] = []
    for (property, value) in values {
      let found = table.schema.columns.firstIndex {
        !$0.isCompanion && $0.name.utf8.elementsEqual(property.utf8)
      }
      guard let position = found, !positions.contains(position) else { return nil }
      let column = table.schema.columns[position]
      guard column.collection == .none, column.index != .unique, column.type != .link,
        column.acceptsElement(value)
      else { return nil }
      positions.append(position)
    }
    let name = name
    var made: UInt64 = 0
    try changing { () throws(StorageError) in
      made = try table.insert { (row: inout NewRow) throws(StorageError) in
        try row.set(key, name.key)
        for (position, value) in zip(positions, values) { try row.set(position, value.value) }
      }
    }
    row = made
    return positions.map { table.schema.columns[$0].id }
  }

  /// Ends the changes of the object, and writes all of them to the file. The row of a deleted object is removed, and
  /// links to it wait for another object with its key.
  ///
  /// - Throws: `.corrupted`. The transaction can't be committed then.
  package mutating func finish() throws(StorageError) {
    try editor.tables.closeCells()
    guard let left else { return }
    self.left = nil
    try changing { () throws(StorageError) in try table.removeLeavingLinks(left) }
  }

  private func changing(_ body: () throws(StorageError) -> Void) throws(StorageError) {
    // The collections of another object that are still in memory may have links to this one.
    if editor.tables.openCells !== editor.collections { try editor.tables.closeCells() }
    do throws(StorageError) {
      try editor.tables.knowing { () throws(StorageError) in try editor.tables.deriving(body) }
    } catch {
      if case .instructionDoesNotFit = error { throw error }
      throw editor.tables.fail(error)
    }
  }

  /// The instructions that take back an instruction which is about to be carried out, in the order in which they are to
  /// be carried out.
  ///
  /// - Throws: `.instructionDoesNotFit`, `.corrupted`.
  package func inverse(of instruction: Instruction) throws(StorageError) -> [Instruction] {
    switch instruction {
    case .create: return row == nil ? [.delete] : []
    case .delete: return try content() ?? []
    case .ingest: return []
    default: break
    }
    guard let row else { throw table.doesNotFit(.noObject, nil) }
    return try InverseInstructions(editor: editor, object: object(row)).inverse(of: instruction, table, row)
  }

  /// The instructions that make an object with the whole content of this one; nil if the object is not in the file.
  /// Takes time in proportion to the content.
  package func content() throws(StorageError) -> [Instruction]? {
    try editor.tables.closeCells()
    guard let row, let found = try table.row(row) else { return nil }
    return [.create]
      + (try ObjectTeller().contents(found, table, at: ObjectTeller.Place(object: object(row))))
  }

  private func object(_ row: UInt64) -> ChangesetMaker.SyncedObject {
    ChangesetMaker.SyncedObject(row: LinkTarget(table: table.schema.id, row: row), name: name)
  }

  /// The error for an instruction that can't change any object of the table.
  package func doesNotFit(_ problem: InstructionProblem, _ path: InstructionPath? = nil) -> StorageError {
    .instructionDoesNotFit(
      problem, table: name.table, column: path?.property, path: editor.tables.editor.store.storage.path)
  }

  /// The place to which a path would lead if the object and everything on the way were in the file. The returned place
  /// tells what can stand there, not what stands there.
  ///
  /// - Throws: `.instructionDoesNotFit` for a path that no object of the table can have; `.corrupted`.
  package func form(of path: InstructionPath) throws(StorageError) -> EditedPlace {
    try EditedPlace.form(of: path, table, editor)
  }

  /// The place to which a path leads; nil if something on the way is not in the file.
  ///
  /// - Throws: `.instructionDoesNotFit` for a path that no object of the table can have; `.corrupted`.
  package func place(_ path: InstructionPath) throws(StorageError) -> EditedPlace? {
    guard let row else { return nil }
    return try EditedPlace(path, table, row, editor)
  }
}
