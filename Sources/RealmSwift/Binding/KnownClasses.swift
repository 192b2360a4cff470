import RealmStorage
import Synchronization

/// The classes that a configuration names: a list in its order, or all classes of the program.
struct ClassList: Hashable, Sendable {
  private let classes: [ObjectIdentifier]?

  init(_ types: [ObjectBase.Type]?) { classes = types?.map { ObjectIdentifier($0) } }

  var isDefault: Bool { classes == nil }
}

/// The classes with which the realms of an open file were opened so far, on any thread.
///
/// It only grows, and what it has answered never changes, so that open realms keep the classes that they have.
final class KnownClasses: Sendable {
  private struct State {
    var schemas: [ClassList: RealmSchema] = [:]
    var bindings: [ObjectIdentifier: ClassBinding] = [:]
    /// The slot of each table, by its name.
    var slots: [String: Int] = [:]
    var nextIndex = 0
    /// The tables as classes of dynamic objects, in each form in which they were asked for.
    var families: [TableModels] = []
    /// Classes that show only some properties of a table, for a migration. They are kept because the objects of a migration
    /// refer to them.
    var reduced: [TableModels] = []

    /// Binds a class to its table.
    mutating func bind(_ model: ObjectModel, _ table: TableSchema?) -> ClassBinding {
      let slot = slots[model.name] ?? slots.count
      slots[model.name] = slot
      defer { nextIndex += 1 }
      return ClassBinding(model, index: nextIndex, slot: slot, table: table)
    }

    mutating func makeFamily(_ tables: [TableSchema], _ shown: (TableSchema) -> ClassSchema?) -> TableModels {
      TableModels(tables, shown: shown) { bind($0, $1) }
    }

    /// The bindings that are valid from now on, with those that are known in place of new ones.
    mutating func keep(_ found: [ClassBinding]) -> [ClassBinding] {
      found.map { binding in
        let type = ObjectIdentifier(binding.model.type)
        if let known = bindings[type] { return known }
        bindings[type] = binding
        return binding
      }
    }
  }
  private let state = Mutex(State())

  /// The schema of a list of classes with which a realm was opened before; nil if there was none.
  func schema(_ list: ClassList) -> RealmSchema? { state.withLock { $0.schemas[list] } }

  /// Whether this binding is the known one of its class. The table of a known class is committed.
  func isKnown(_ binding: ClassBinding) -> Bool {
    state.withLock { $0.bindings[ObjectIdentifier(binding.model.type)] === binding }
  }

  /// Binds a list of classes to tables. A known class keeps its binding.
  ///
  /// - Parameter own: bindings that only the session knows, because their tables are not committed.
  func schema(
    of models: [ObjectModel], _ tables: [TableSchema], _ list: ClassList, own: [ClassBinding] = []
  ) -> RealmSchema {
    let byName = Dictionary(tables.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let bindings = state.withLock { state in
      models.map { model in
        if let known = state.bindings[ObjectIdentifier(model.type)] { return known }
        if let known = own.first(where: { $0.model === model }) { return known }
        return state.bind(model, byName[model.name])
      }
    }
    return RealmSchema(bindings, isDefault: list.isDefault)
  }

  /// Makes classes known whose tables are committed. If several threads bound a class at the same time, the first binding
  /// counts.
  ///
  /// - Returns: the schema with the bindings that are valid from now on.
  @discardableResult
  func keep(_ schema: RealmSchema, _ list: ClassList) -> RealmSchema {
    state.withLock { state in
      if let known = state.schemas[list] { return known }
      let bindings = state.keep(schema.bindings)
      let isSame = zip(bindings, schema.bindings).allSatisfy { $0 === $1 }
      let kept = isSame ? schema : RealmSchema(bindings, isDefault: schema.isDefault)
      state.schemas[list] = kept
      return kept
    }
  }

  /// Makes single classes known whose tables are committed. If several threads bound a class at the same time, the first
  /// binding counts.
  func keep(_ bindings: [ClassBinding]) { state.withLock { state in _ = state.keep(bindings) } }

  /// The tables as classes of dynamic objects. The same tables always get the same classes.
  func models(of tables: [TableSchema]) -> TableModels {
    state.withLock { state in
      if let known = state.families.last(where: { $0.tables == tables }) { return known }
      let made = state.makeFamily(tables) { _ in nil }
      state.families.append(made)
      return made
    }
  }

  /// The tables as classes of dynamic objects with only the properties that `shown` answers for a table; all properties if it
  /// answers nil.
  func models(of tables: [TableSchema], showing shown: (TableSchema) -> ClassSchema?) -> TableModels {
    state.withLock { state in
      let made = state.makeFamily(tables, shown)
      state.reduced.append(made)
      return made
    }
  }
}
