import RealmStorage

/// Finds the properties that names joined by dots lead to, for sorting and for distinct values.
enum PropertyPath {
  /// - Parameter what: what is done to the objects, for messages.
  /// - Precondition: all names are stored properties. All but the last link to one object, and the last is a single value.
  ///   Otherwise the program stops.
  static func find(_ text: String, of context: ObjectContext, _ what: String = "sorted") -> ColumnPath {
    let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard names.count <= ColumnPath.maximumLinks else {
      raise(
        "Invalid sort",
        "a path of \(names.count) properties from \(context.binding.model.name) is too long: "
          + "\(ColumnPath.maximumLinks) are allowed.")
    }
    var binding = context.binding
    var columns: [Int] = []
    for (index, name) in names.enumerated() {
      let isLast = index + 1 == names.count
      let property = property(name, of: binding.model, isLast: isLast, what)
      columns.append(binding.columns[binding.model.position(of: name) ?? 0])
      if isLast { break }
      guard let target = property.target else {
        raise(
          "Unknown property", "\(binding.model.name).\(name) does not link; it has no \(names[index + 1]).")
      }
      binding = context.session.binding(target)
    }
    return ColumnPath(links: columns.dropLast(), column: columns[columns.count - 1])
  }

  private static func property(
    _ name: String, of model: ObjectModel, isLast: Bool, _ what: String
  ) -> ModelProperty {
    guard let position = model.position(of: name) else {
      raise("Unknown property", "\(model.name) has no property \(name) that is stored.")
    }
    let property = model.properties[position]
    if property.type.form != .value {
      raise("Invalid sort", "\(model.name).\(name) is a collection; objects are \(what) by single values.")
    }
    if isLast, property.type.column == .link, what == "sorted" {
      raise(
        "Invalid sort",
        "\(model.name).\(name) links to objects, which have no order; name a property of theirs.")
    }
    return property
  }
}
