import RealmQuery
import RealmStorage
import Synchronization

/// A class of an open realm: its model, and the columns of its properties in its table.
final class ClassBinding: Sendable {
  let model: ObjectModel
  /// The position of the class among those with which the file was opened.
  let index: Int
  /// The position of the class's table. Classes that share a table have the same slot.
  let slot: Int
  /// The position of each property's column in the table's schema; -1 if the property has no column.
  let columns: [Int]
  /// The schema of the table; nil if a read-only realm does not have the table.
  let table: TableSchema?

  init(_ model: ObjectModel, index: Int, slot: Int, table: TableSchema?) {
    self.model = model
    self.index = index
    self.slot = slot
    self.table = table
    columns = model.properties.map { property in
      table?.columns.firstIndex { $0.name == property.columnName } ?? -1
    }
  }

  /// Whether the properties have the same columns in a table as in the one to which the class was bound. They may not if
  /// another process has removed properties or changed their types.
  ///
  /// - Parameters:
  ///   - isSynced: whether others may have made a property optional meanwhile. Its null is then read as zero.
  ///   - isMigrating: whether primary keys may be none for a while.
  func fits(_ found: TableSchema, isSynced: Bool = false, isMigrating: Bool = false) -> Bool {
    guard let table else { return true }
    guard table.isEmbedded == found.isEmbedded else { return false }
    return columns.allSatisfy { position in
      guard position >= 0 else { return true }
      guard position < found.columns.count else { return false }
      let (old, new) = (table.columns[position], found.columns[position])
      return old.id == new.id && old.type == new.type && old.target == new.target
        && (isMigrating || (old.index == .unique) == (new.index == .unique))
        && (old.isOptional == new.isOptional || (isSynced && new.isOptional))
    }
  }
}

/// The classes of a realm.
final class RealmSchema: Sendable {
  let bindings: [ClassBinding]
  /// Whether these are all classes of the program, because no list was given.
  let isDefault: Bool
  private let byClass: [ObjectIdentifier: Int]
  private let byTable: [UInt32: Int]
  private let keptNames = Mutex<QueryNames?>(nil)

  /// Makes a schema.
  ///
  /// - Parameter bindings: at most one binding for each class.
  init(_ bindings: [ClassBinding], isDefault: Bool) {
    self.bindings = bindings
    self.isDefault = isDefault
    byClass = Dictionary(
      uniqueKeysWithValues: bindings.enumerated().map { (ObjectIdentifier($1.model.type), $0) })
    // If several classes share a table, its objects are of the class with which a realm was opened first.
    byTable = Dictionary(
      bindings.enumerated().compactMap { place, binding in binding.table.map { ($0.id, place) } },
      uniquingKeysWith: { first, _ in first })
  }

  /// What the names in queries mean. It is made for the first query.
  var queryNames: QueryNames {
    keptNames.withLock { kept in
      let names = kept ?? QueryNames(bindings)
      kept = names
      return names
    }
  }

  /// This schema, with those classes of another schema that it does not have.
  func joined(with other: RealmSchema) -> RealmSchema {
    let added = other.bindings.filter { byClass[ObjectIdentifier($0.model.type)] == nil }
    if added.isEmpty, isDefault || !other.isDefault { return self }
    return RealmSchema(bindings + added, isDefault: isDefault || other.isDefault)
  }

  /// The class that is stored in a table; nil if the realm was opened without it.
  func binding(table: UInt32) -> ClassBinding? { byTable[table].map { bindings[$0] } }

  /// The binding of a class; nil if the realm was opened without it.
  func find(_ type: ObjectBase.Type) -> ClassBinding? { byClass[ObjectIdentifier(type)].map { bindings[$0] } }

  /// Stops the program because the realm was opened without a class.
  func stopMissing(_ type: ObjectBase.Type, path: String) -> Never {
    if type.isDynamic {
      raise(
        "Class not in the realm",
        "dynamic objects are of no class of their own: name a table's, by dynamicObjects(_:) or dynamicCreate(_:value:)."
      )
    }
    let name = ObjectModel.unqualifiedName(of: type)
    let opened =
      isDefault
      ? "without objectTypes, which leaves out classes that answer false in shouldIncludeInDefaultSchema()"
      : "with objectTypes = [\(Self.listed(bindings.map { ObjectModel.unqualifiedName(of: $0.model.type) }))]"
    raise(
      "Class not in the realm",
      "\(name) is not among the classes of this realm: \(path) was opened \(opened); use a realm whose configuration "
        + "names it, or add it to objectTypes.")
  }

  /// The largest number of names in a message.
  private static let mostListed = 12

  private static func listed(_ names: [String]) -> String {
    let rest = names.count - mostListed
    return names.prefix(mostListed).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
  }

  // MARK: - Opening

  /// The models of the classes that a configuration names, or of all classes of the program. Invalid classes stop the
  /// program.
  static func models(_ types: [ObjectBase.Type]?) -> [ObjectModel] {
    var seen = Set<ObjectIdentifier>()
    let classes = (types ?? defaultTypes()).filter { seen.insert(ObjectIdentifier($0)).inserted }
    let models = classes.map { ObjectModel.of($0) }
    var names: [String: ObjectModel] = [:]
    for model in models {
      if model.properties.isEmpty {
        raise(
          "Invalid schema",
          "\(model.name) has no property marked by @Persisted: it would store nothing; mark one, "
            + "or answer false in shouldIncludeInDefaultSchema().")
      }
      if let other = names.updateValue(model, forKey: model.name) {
        raise(
          "Invalid schema",
          "two classes are named \(model.name): \(String(reflecting: other.type)) and "
            + "\(String(reflecting: model.type)); list those you want in objectTypes, rename one, "
            + "or answer false in its shouldIncludeInDefaultSchema().")
      }
    }
    checkOwners(models, areListed: types != nil)
    for model in models {
      for property in model.properties {
        guard let target = property.type.target else { continue }
        if !seen.contains(ObjectIdentifier(target)) {
          raise(
            "Invalid schema",
            "\(model.name).\(property.name) links to \(ObjectModel.unqualifiedName(of: target)), which is not "
              + "among the classes of the realm; add it to objectTypes.")
        }
        if case .linkingObjects(let origin) = property.type.form {
          checkOrigin(origin, of: property.name, model, in: ObjectModel.of(target))
        }
      }
    }
    return models
  }

  /// Stops the program if a property would show links that can't exist.
  private static func checkOrigin(
    _ origin: String, of property: String, _ model: ObjectModel, in other: ObjectModel
  ) {
    // A subclass inherits the property, though no links lead to its objects.
    if let position = other.position(of: origin), let target = other.properties[position].type.target,
      sequence(first: model.type as AnyClass, next: { _getSuperclass($0) }).contains(where: { $0 == target })
    {
      return
    }
    raise(
      "Invalid schema",
      "\(model.name).\(property) shows who links by \(other.name).\(origin), which is no property that links to \(model.name); "
        + "give the name of one as originProperty.")
  }

  private static func defaultTypes() -> [ObjectBase.Type] {
    let embedded = included(EmbeddedObject.self)
    var types = included(Object.self) + included(AsymmetricObject.self)
    // The embedded classes that some class owns are added. The list grows while it is walked.
    var next = 0
    var seen = Set(types.map { ObjectIdentifier($0) })
    let isEmbedded = Set(embedded.map { ObjectIdentifier($0) })
    while next < types.count {
      for property in ObjectModel.of(types[next]).properties {
        guard let target = property.type.target, isEmbedded.contains(ObjectIdentifier(target)),
          seen.insert(ObjectIdentifier(target)).inserted
        else { continue }
        types.append(target)
      }
      next += 1
    }
    return types.sorted { String(reflecting: $0) < String(reflecting: $1) }
  }

  private static func included(_ base: AnyClass) -> [ObjectBase.Type] {
    ClassDiscovery.subclasses(of: base)
      .compactMap { $0 as? ObjectBase.Type }
      .filter { $0.shouldIncludeInDefaultSchema() }
  }

  /// Stops the program if embedded classes own each other in a circle, or a listed one has no owner.
  private static func checkOwners(_ models: [ObjectModel], areListed: Bool) {
    var owned = Set<ObjectIdentifier>()
    for model in models {
      for property in model.properties where !property.isComputed {
        if let target = property.type.target { owned.insert(ObjectIdentifier(target)) }
      }
    }
    for model in models where model.isEmbedded {
      if areListed, !owned.contains(ObjectIdentifier(model.type)) {
        raise(
          "Invalid schema",
          "\(model.name) is embedded, and no class of the realm has a property for it; add its owner to objectTypes, "
            + "or leave it out.")
      }
      if let circle = circle(of: model, through: [model]) {
        raise(
          "Invalid schema",
          "embedded classes own each other in a circle: \(circle.map(\.name).joined(separator: ", ")), "
            + "\(model.name); let one of them be an Object.")
      }
    }
  }

  /// The embedded classes through which a class comes to own itself; nil if there are none.
  private static func circle(of model: ObjectModel, through path: [ObjectModel]) -> [ObjectModel]? {
    for property in path[path.count - 1].properties where !property.isComputed {
      guard let target = property.type.target, target is EmbeddedObject.Type else { continue }
      if target == model.type { return path }
      if path.contains(where: { $0.type == target }) { continue }
      if let found = circle(of: model, through: path + [ObjectModel.of(target)]) { return found }
    }
    return nil
  }
}

extension QueryNames {
  /// Makes the names of classes and properties. Those of the program and those that are stored are both valid.
  fileprivate convenience init(_ bindings: [ClassBinding]) {
    var (aliases, inverses): ([UInt32: [String: String]], [UInt32: [String: Inverse]]) = ([:], [:])
    var (classes, tables): ([String: UInt32], [TableSchema]) = ([:], [])
    for binding in bindings {
      guard let table = binding.table else { continue }
      if !tables.contains(where: { $0.id == table.id }) { tables.append(table) }
      classes[binding.model.name] = table.id
      for property in binding.model.properties {
        if case .linkingObjects(let source) = property.type.form {
          guard
            let origin = property.type.target.flatMap({ type in bindings.first { $0.model.type == type } }),
            let position = origin.model.position(of: source), origin.columns[position] >= 0,
            let schema = origin.table
          else { continue }
          inverses[table.id, default: [:]][property.name] = Inverse(
            table: schema.id, column: schema.columns[origin.columns[position]].id)
        } else if property.name != property.columnName {
          aliases[table.id, default: [:]][property.name] = property.columnName
        }
      }
    }
    self.init(tables: tables, aliases: aliases, inverses: inverses, classes: classes)
  }
}
