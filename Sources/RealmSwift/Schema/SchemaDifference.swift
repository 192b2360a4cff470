/// One difference between a class and its table.
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
  let className: String
  /// The name of the column; empty if the class itself differs.
  let column: String
  /// Whether the property is the primary key of the class.
  let isOfKey: Bool
  /// The difference in words, with the old and the new type.
  let text: String

  /// Whether a synced file can be changed to fit. Other clients read the change too.
  var canBeSynced: Bool {
    switch kind {
    // A new primary key would be the same for all objects that are there already.
    case .added: !isOfKey
    // Which object a key names is decided once for all clients, when the class is first sent.
    case .becameOptional: !isOfKey
    case .removed, .becameRequired, .retyped, .primaryKey, .embedded: false
    }
  }

  /// Whether a read-only realm can use the table as it is.
  var canBeReadOver: Bool { kind == .removed }

  private init(_ kind: Kind, _ wanted: ClassSchema, _ column: String, _ text: String) {
    self.kind = kind
    className = wanted.name
    self.column = column
    isOfKey = wanted.primaryKey.map { $0.columnName == column } ?? false
    self.text = text
  }

  /// The differences between a class and its table. Those of properties are in the order of the class; the columns that the
  /// class lacks come last.
  ///
  /// - Parameter found: the table of a file.
  static func all(_ wanted: ClassSchema, _ found: ClassSchema) -> [Self] {
    var differences: [Self] = []
    if found.isEmbedded != wanted.isEmbedded {
      let change = wanted.isEmbedded ? "Object to EmbeddedObject" : "EmbeddedObject to Object"
      differences.append(Self(.embedded, wanted, "", "class \(wanted.name) changed from \(change)"))
    }
    for property in wanted.stored {
      guard let old = found.property(ofColumn: property.columnName) else {
        let added = "property \(wanted.name).\(property.name): \(property.typeText) was added"
        let key = property.role == .primaryKey ? " as the primary key" : ""
        differences.append(Self(.added, wanted, property.columnName, added + key))
        continue
      }
      differences += compared(wanted, property, old)
    }
    let columns = Set(wanted.stored.map(\.columnName))
    for old in found.properties where !columns.contains(old.columnName) {
      let text = "property \(wanted.name).\(old.columnName): \(old.typeText) was removed"
      differences.append(Self(.removed, wanted, old.columnName, text))
    }
    return differences
  }

  private static func compared(
    _ wanted: ClassSchema, _ new: PropertySchema, _ old: PropertySchema
  ) -> [Self] {
    var differences: [Self] = []
    func differs(_ kind: Kind, _ text: String) {
      differences.append(Self(kind, wanted, new.columnName, "property \(wanted.name).\(new.name) \(text)"))
    }
    if old.typeText != new.typeText {
      let isAlike = old.typeText(isOptional: false) == new.typeText(isOptional: false) && new.form == .value
      let kind: Kind = !isAlike ? .retyped : new.isOptional ? .becameOptional : .becameRequired
      differs(kind, "changed from \(old.typeText) to \(new.typeText)")
    }
    if (old.role == .primaryKey) != (new.role == .primaryKey) {
      differs(.primaryKey, new.role == .primaryKey ? "became the primary key" : "was the primary key")
    }
    return differences
  }
}
