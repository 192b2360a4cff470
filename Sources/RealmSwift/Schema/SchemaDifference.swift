import RealmStorage

/// One way in which a class differs from its table.
struct SchemaDifference {
  enum Kind {
    case added
    case removed
    case becameOptional
    case becameRequired
    /// Any other change of a property's type.
    case retyped
    case primaryKey
    case embedded
  }

  let kind: Kind
  let model: ObjectModel
  /// The name of the column; empty where it is the class that differs.
  let column: String
  /// What differs, in words, with both types.
  let text: String

  /// Opening the file under a higher schema version makes the change.
  var canBeMade: Bool {
    switch kind {
    case .added, .removed, .becameOptional, .becameRequired: true
    case .retyped, .primaryKey, .embedded: false
    }
  }

  /// The class has a primary key that its table has no column for.
  static func addsKey(_ model: ObjectModel, _ table: TableSchema) -> Bool {
    guard let key = model.primaryKey.map({ model.properties[$0].columnName }) else { return false }
    return !table.columns.contains { $0.name == key }
  }

  /// The property is the primary key.
  var isOfKey: Bool { model.primaryKey.map { model.properties[$0].columnName } == column }

  /// A synced file can be brought to fit: others read what has come to be there.
  var canBeSynced: Bool {
    switch kind {
    case .added: true
    // Which object a key names is decided for all at once, when its class is told.
    case .becameOptional: !isOfKey
    case .removed, .becameRequired, .retyped, .primaryKey, .embedded: false
    }
  }

  /// The table serves a realm that is only read as it is.
  var canBeReadOver: Bool { kind == .removed }

  /// What differs between a class and its table, properties in the order of the class and then the columns it lacks.
  ///
  /// - Parameter rows: how many rows the table has, where the class has a primary key that the table lacks.
  static func all(
    _ model: ObjectModel, _ table: TableSchema, among tables: [TableSchema], rows: Int
  ) -> [Self] {
    var differences: [Self] = []
    if table.isEmbedded != model.isEmbedded {
      let change = model.isEmbedded ? "Object to EmbeddedObject" : "EmbeddedObject to Object"
      differences.append(Self(.embedded, model, "", "class \(model.name) changed from \(change)"))
    }
    for property in model.properties {
      guard let column = property.column else { continue }
      let targetName = property.type.target.map { ObjectModel.of($0).name }
      let wanted = ColumnText(column, target: targetName)
      guard let found = table.columns.first(where: { $0.name == property.columnName }) else {
        let added = "property \(model.name).\(property.name): \(wanted.text) was added"
        // The objects that are there would all have one key.
        differences.append(
          property.role == .primaryKey && rows > 1
            ? Self(
              .primaryKey, model, column.name,
              "\(added) as the primary key, and the \(rows) objects in the file would all have the same")
            : Self(.added, model, column.name, added))
        continue
      }
      let old = ColumnText(found, target: tables.first { $0.id == found.target }?.name)
      differences += compared(model, property, old, wanted)
    }
    let wanted = Set(model.properties.filter { !$0.isComputed }.map(\.columnName))
    for column in table.properties where !wanted.contains(column.name) {
      let old = ColumnText(column, target: tables.first { $0.id == column.target }?.name)
      differences.append(
        Self(.removed, model, column.name, "property \(model.name).\(column.name): \(old.text) was removed"))
    }
    return differences
  }

  private static func compared(
    _ model: ObjectModel, _ property: ModelProperty, _ old: ColumnText, _ new: ColumnText
  ) -> [Self] {
    var differences: [Self] = []
    let name = "property \(model.name).\(property.name)"
    func differs(_ kind: Kind, _ text: String) {
      differences.append(Self(kind, model, new.column.name, "\(name) \(text)"))
    }
    if old.text != new.text {
      let isAlike = old.text(isOptional: false) == new.text(isOptional: false) && !new.column.isCollection
      let kind: Kind = !isAlike ? .retyped : new.column.isOptional ? .becameOptional : .becameRequired
      differs(kind, "changed from \(old.text) to \(new.text)")
    }
    if (old.column.index == .unique) != (new.column.index == .unique) {
      differs(.primaryKey, new.column.index == .unique ? "became the primary key" : "was the primary key")
    }
    return differences
  }

  private init(_ kind: Kind, _ model: ObjectModel, _ column: String, _ text: String) {
    self.kind = kind
    self.model = model
    self.column = column
    self.text = text
  }
}

/// The type of a column as a program writes it. All whole numbers are `Int`: the file does not tell them apart.
private struct ColumnText {
  let column: Column
  /// The class that links point to.
  private let target: String?

  init(_ column: Column, target: String?) {
    self.column = column
    self.target = target
  }

  var text: String { text(isOptional: column.isOptional) }

  func text(isOptional: Bool) -> String {
    // A value of any type is nil as one of its cases.
    let element = name + (isOptional && column.type != .mixed ? "?" : "")
    return switch column.collection {
    case .none: element
    case .list: "List<\(element)>"
    case .set: "MutableSet<\(element)>"
    case .map: "Map<String, \(element)>"
    }
  }

  private var name: String {
    switch column.type {
    case .bool: "Bool"
    case .int64: "Int"
    case .float: "Float"
    case .double: "Double"
    case .string: "String"
    case .data: "Data"
    case .date: "Date"
    case .objectID: "ObjectId"
    case .uuid: "UUID"
    case .decimal128: "Decimal128"
    case .link: target ?? "a class that is not there"
    case .mixed: "AnyRealmValue"
    }
  }
}
