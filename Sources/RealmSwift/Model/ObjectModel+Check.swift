import RealmStorage

/// The checks of what a class declares. A class that fails one stops the program when it is first used.
extension ObjectModel {
  /// Stops the program if a list or dictionary can't be a value of a property of any values.
  ///
  /// - Parameter depth: the number of collections in which the value stands already.
  func check(_ value: Value, fits position: Int, depth: Int = 0) {
    let property = properties[position]
    guard property.type.column == .mixed, value.elements != nil else { return }
    if property.type.form == .set {
      raise(
        "Invalid value",
        "\(name).\(property.name) is a set, which holds no lists and no dictionaries; let it be a List of AnyRealmValue."
      )
    }
    if !value.isMixed(levels: Value.mostLevels - depth - 1) {
      raise(
        "Invalid value",
        "\(name).\(property.name) would hold lists and dictionaries that stand in each other more than "
          + "\(Value.mostLevels) deep; store an object for the inner ones.")
    }
  }

  /// Checks the names that the class gives by its methods, and stops the program if a property would not be stored.
  func check(_ named: NamedRoles, unstored: [String]) {
    for (method, names) in named.all {
      for name in names where position(of: name) == nil {
        raise(
          "Invalid schema",
          "\(self.name).\(method) names \(name), which is no property that is stored; "
            + "mark it by @Persisted, or leave it out.")
      }
    }
    guard let lost = unstored.first else { return }
    raise(
      "Invalid schema",
      "\(name).\(lost) would not be stored; mark it by @Persisted, as all properties of the class, or name it in "
        + "ignoredProperties().")
  }

  func check(_ mapping: [String: String]) {
    for name in mapping.keys.sorted() where position(of: name) == nil {
      raise(
        "Invalid schema",
        "\(self.name).propertiesMapping() names \(name), which is no property marked by @Persisted; give the property's name "
          + "first, and the stored one second.")
    }
    var columns: [String: String] = [:]
    for property in properties where !property.isComputed {
      if let other = columns.updateValue(property.name, forKey: property.columnName) {
        raise(
          "Invalid schema",
          "\(name).\(other) and \(name).\(property.name) are both stored as \(property.columnName); map one to another name."
        )
      }
    }
  }

  func check(keys: Int) {
    if keys > 1 { raise("Invalid schema", "\(name) has \(keys) primary keys; keep one.") }
    var names = Set<String>()
    for property in properties {
      if !names.insert(property.name).inserted {
        raise("Invalid schema", "\(name).\(property.name) is declared twice in its classes; rename one.")
      }
      if property.role == .primaryKey, isEmbedded {
        raise(
          "Invalid schema",
          "\(name).\(property.name) can't be a primary key: objects of \(name) are found through their owner only."
        )
      }
      check(property)
      checkRole(of: property)
      if property.role == .primaryKey, property.type.column == .bool {
        raise("Invalid schema", "\(name).\(property.name) can't be a primary key: Bool has two values only.")
      }
    }
  }

  /// Checks the role of a property. `@Persisted` excludes wrong types at compile time, but a class may also give roles by its
  /// methods.
  private func checkRole(of property: ModelProperty) {
    let column = property.type.column
    let isOne = property.type.form == .value
    if property.role == .indexed, !isOne || !column.canHave(.plain) {
      raise(
        "Invalid schema",
        "\(name).\(property.name) can't be indexed: only single whole numbers, texts, dates, ids, truth values and AnyRealmValue are."
      )
    }
    if property.role == .primaryKey, !isOne || !column.canHave(.unique) || column == .date {
      raise(
        "Invalid schema",
        "\(name).\(property.name) can't be a primary key: only a whole number, a text, an ObjectId or a UUID can."
      )
    }
  }

  /// Stops the program if the property's kind of collection can't hold its elements.
  private func check(_ property: ModelProperty) {
    guard let target = property.type.target else { return }
    let targetName = Self.unqualifiedName(of: target)
    switch property.type.form {
    case .list where property.type.isOptional, .set where property.type.isOptional:
      raise(
        "Invalid schema",
        "\(name).\(property.name) can't hold nil; let it hold \(targetName), not \(targetName)?.")
    case .set where target is EmbeddedObject.Type:
      raise(
        "Invalid schema",
        "\(name).\(property.name) is a set of embedded objects, which are never equal; let it be a List of \(targetName)."
      )
    case .map where !property.type.isOptional:
      raise(
        "Invalid schema",
        "\(name).\(property.name) loses values when objects are deleted; let it be a Map of \(targetName)?.")
    default: break
    }
  }
}

extension AnyRealmValue: _Indexable {}
