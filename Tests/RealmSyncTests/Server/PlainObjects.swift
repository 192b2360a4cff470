import RealmStorage
import RealmSync

/// A class without links and collections, beside the class of the model. Many of its objects are sent as creations.
enum PlainObjects {
  static let name = "Plain"

  /// Queries may use `q`, as in the class of the model.
  static let definitions: [SchemaInstruction] = [
    .addTable(name, key: PropertyDefinition("id", .int64)),
    .addProperty(table: name, PropertyDefinition("q", .int64, isOptional: true)),
    .addProperty(table: name, PropertyDefinition("text", .string)),
    .addProperty(table: name, PropertyDefinition("note", .string, isOptional: true)),
  ]

  /// The class in a file. The function makes the class if it is not there.
  static func make(_ transaction: WriteTransaction) throws -> WritableTable {
    if let table = try transaction.table(name) { return table }
    return try transaction.createTable(
      TableSchema(
        name, hasElementIDs: true,
        columns: [
          Column("id", .int64, index: .unique), Column("q", .int64, isOptional: true),
          Column("text", .string), Column("note", .string, isOptional: true),
        ]))
  }

  static func query(_ predicate: String = "") -> QuerySet.Query {
    QuerySet.Query(table: name, predicate: predicate)
  }

  // MARK: - Changes

  static func id(_ key: Int64) -> ObjectName { ObjectName(name, .int(key)) }

  static func set(_ property: String, _ value: Value) -> Instruction {
    .set(InstructionPath(property), .value(value), isDefault: false)
  }

  /// The content of an object. One object in fifty has a value that is too long to be part of the creation.
  static func content(_ key: Int64, _ text: String = "as it was made") -> [Instruction] {
    var content: [Instruction] = [
      .create, set("q", .int(key % 4)),
      set("text", .string("the object \(key) of the class of plain objects, \(text)")),
    ]
    if key % 50 == 0 { content.append(set("note", .string(String(repeating: "long ", count: 300)))) }
    return content
  }

  /// The creation of objects, without definitions.
  static func creations(_ keys: some Sequence<Int64>, _ text: String = "as it was made") -> Changeset {
    var changeset = Changeset()
    for key in keys { changeset.objects.append(ObjectInstructions(id(key), content(key, text))) }
    return changeset
  }

  /// A changeset that changes one object, deletes a second one and makes a third one.
  static func changes(_ changed: Int64, deleting deleted: Int64, making made: Int64) -> Changeset {
    var changeset = creations([made])
    changeset.objects.append(ObjectInstructions(id(changed), [set("text", .string("changed"))]))
    changeset.objects.append(ObjectInstructions(id(deleted), [.delete]))
    return changeset
  }

  // MARK: - Texts

  /// All objects of a file as texts, by their keys.
  static func texts(_ database: Database) throws -> [Int64: String] {
    try texts(database.snapshot().table(name))
  }

  static func texts(_ table: Table?) throws -> [Int64: String] {
    guard let table else { return [:] }
    let columns = table.schema.columns
    let places = ["id", "q", "text", "note"].map { name in columns.firstIndex { $0.name == name } }
    var found: [Int64: String] = [:]
    try table.forEach { _, values in
      let all = places.map { place in place.map { values[$0] } ?? .null }
      if case .int(let key) = all[0] { found[key] = "\(all.dropFirst())" }
      return true
    }
    return found
  }
}
