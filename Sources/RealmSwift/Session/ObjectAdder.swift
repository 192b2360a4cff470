import Foundation
import RealmStorage

/// Adds an unmanaged object, and all objects that it links to, to a realm in its write transaction.
///
/// Linked objects are added first, so that their rows are known when a row that links to them is made. If objects link
/// in a circle, the link that closes it is set afterwards. Chains of objects may be as long as memory allows, because
/// no function recurses along a chain.
final class ObjectAdder {
  private let session: RealmSession
  private let policy: Realm.UpdatePolicy
  /// The properties that were given for each object that was made from a dictionary. For all other objects, all
  /// properties are given.
  private let given: [ObjectIdentifier: Set<Int>]
  private var visited = Set<ObjectIdentifier>()
  /// The embedded objects that have an owner. They are kept because some of them are made meanwhile, for values of the
  /// program's own types, and a later object must not get the address of an earlier one.
  private var owned: [ObjectIdentifier: ObjectBase] = [:]
  /// For each object that updates a row, the properties that were not given and would be stored as new embedded
  /// objects.
  private var unset: [ObjectIdentifier: Set<Int>] = [:]
  /// The rows of stored embedded objects that are updated, by the embedded objects that update them.
  private var replaced: [ObjectIdentifier: UInt64] = [:]
  /// The embedded objects that were assigned again to the property that holds them.
  private var kept = Set<ObjectIdentifier>()
  /// The properties that are not stored completely yet, because they link to objects that were not managed when the row
  /// was made.
  private var late: [(object: ObjectBase, position: Int)] = []

  init(_ session: RealmSession, _ policy: Realm.UpdatePolicy, given: [ObjectIdentifier: Set<Int>] = [:]) {
    self.session = session
    self.policy = policy
    self.given = given
  }

  /// Adds an object and returns its row.
  @discardableResult
  func add(_ root: ObjectBase) -> UInt64 {
    if root.isPart { own(root) }
    if isManagedHere(root) { return root.row }
    return Self.addPlain(root, session, policy) ?? addInOrder(root)
  }

  /// Adds the objects to which an object links, and then the object itself.
  private func addInOrder(_ root: ObjectBase) -> UInt64 {
    addAll(root)
    setLate()
    return root.row
  }

  /// Adds an object and those to which it links, without the links that close a circle.
  private func addAll(_ root: ObjectBase) {
    var stack = [root]
    while let object = stack.last {
      if isManagedHere(object) {
        stack.removeLast()
        continue
      }
      if visited.insert(ObjectIdentifier(object)).inserted {
        let model = object.ownModel
        let depth = stack.count
        prepareUpdate(object, model)
        for (position, property) in model.properties.enumerated() where property.type.canLink {
          for linked in property.field.linked(object, at: property.offset) {
            model.check(linked, fits: position)
            if linked.isPart { own(linked) }
            if !isManagedHere(linked), !visited.contains(ObjectIdentifier(linked)) { stack.append(linked) }
          }
        }
        if stack.count > depth {
          // The object that is linked to first is added first.
          stack[depth...].reverse()
          continue
        }
      }
      insert(object)
      stack.removeLast()
    }
  }

  private func setLate() {
    for (object, position) in late {
      let property = object.ownModel.properties[position]
      let value = property.access.stored(object, property.offset) { $0.row }
      object.store(value, position)
      property.access.adopt(object, property.offset)
      object.ownModel.didManage(object)
    }
    late = []
  }

  /// Adds an unmanaged object if `PlainInsertion` can insert objects of its class. The answer is nil for all other
  /// objects, if the primary key exists already, and if existing objects may be updated.
  private static func addPlain(
    _ object: ObjectBase, _ session: RealmSession, _ policy: Realm.UpdatePolicy
  ) -> UInt64? {
    guard policy == .error, object.keptContext == nil, !type(of: object).isDynamic else {
      return nil
    }
    return session.contextOfHandles(type(of: object)).use { context in
      context.plainInsertion?.use { $0.add(object, context) } ?? nil
    }
  }

  /// Adds an object that is not embedded.
  static func add(_ object: Object, to session: RealmSession, _ policy: Realm.UpdatePolicy) {
    if addPlain(object, session, policy) == nil { _ = ObjectAdder(session, policy).addInOrder(object) }
  }

  /// Notes that an embedded object gets its owner. Stops the program if it has one already.
  private func own(_ object: ObjectBase) {
    if kept.contains(ObjectIdentifier(object)) { return }
    guard object.context == nil, owned.updateValue(object, forKey: ObjectIdentifier(object)) == nil else {
      raise(
        "Embedded object with an owner",
        "a \(object.ownModel.name) belongs to one object, and this one has its owner already; "
          + "copy it: \(ObjectModel.unqualifiedName(of: type(of: object)))(value: …).")
    }
  }

  /// Finds what an object leaves unchanged in the row that it updates. Objects to which its class links by default, and
  /// that were not given, are not added. If only differences are to be written, an embedded object updates the stored
  /// one.
  private func prepareUpdate(_ object: ObjectBase, _ model: ObjectModel) {
    guard policy != .error, let row = updatedRow(object, model) else { return }
    let given = given[ObjectIdentifier(object)]
    for (position, property) in model.properties.enumerated()
    where property.type.canLink && !property.isComputed {
      if let given, !given.contains(position) {
        if !property.field.set(NSNull(), object, at: property.offset, position: position) {
          unset[ObjectIdentifier(object), default: []].insert(position)
        }
      } else if property.holdsParts {
        prepareParts(of: object, property, position, by: stored(position, ofRow: row, model))
      }
    }
  }

  /// Finds which stored embedded objects the embedded objects of a property are, or update. They are matched by their
  /// index in a list, or by their key in a map.
  private func prepareParts(
    of object: ObjectBase, _ property: ModelProperty, _ position: Int, by stored: Value?
  ) {
    let value = property.field.value(object, at: property.offset, position: position)
    var pairs: [(part: Any?, old: Value?)] = []
    switch stored {
    case .list(let old, _):
      let parts = property.field.linked(object, at: property.offset)
      pairs = zip(parts, old).map { ($0, $1) }
    case .map(let old, _):
      let parts = (value as? any EntriesOfMap)?.anyEntries ?? []
      pairs = parts.map { ($1, old[$0]) }
    default: pairs = [(value, stored)]
    }
    for case (let part as ObjectBase, .link(let old)) in pairs {
      if part.context?.session === session {
        if part.row == old { kept.insert(ObjectIdentifier(part)) }
      } else if policy == .modified, part.context == nil {
        replaced[ObjectIdentifier(part)] = old
      }
    }
  }

  private func stored(_ position: Int, ofRow row: UInt64, _ model: ObjectModel) -> Value? {
    reading { () throws(StorageError) in
      let binding = session.binding(model)
      return try session.writable(binding)?.value(binding.columns[position], ofRow: row)
    }
  }

  /// The row that an object will update: the row with its primary key, or the row of the embedded object that it
  /// updates. It is nil if there is none, or if the class has no links, which are all that needs preparation.
  private func updatedRow(_ object: ObjectBase, _ model: ObjectModel) -> UInt64? {
    if let row = replaced[ObjectIdentifier(object)] { return row }
    guard let key = model.primaryKey, model.properties.contains(where: { $0.type.canLink && !$0.isComputed })
    else { return nil }
    let value = model.properties[key].access.stored(object, model.properties[key].offset) { _ in nil }
    return reading { () throws(StorageError) in
      try session.writable(session.binding(model))?.row(withPrimaryKey: value)
    }
  }

  /// Whether this realm manages an object. Stops the program if another realm manages it, or if it was deleted.
  private func isManagedHere(_ object: ObjectBase) -> Bool {
    guard let context = object.context else { return false }
    guard context.session === session else {
      raise(
        "Object of another realm",
        "a \(context.binding.model.name) is managed by another realm; copy it by realm.create(_:value:).")
    }
    if !context.hasRow(object.row, birth: object.birth) {
      context.stopMissing(nil, isNew: context.isNew(birth: object.birth))
    }
    return true
  }

  private func insert(_ object: ObjectBase) {
    let context = session.context(session.binding(object.ownModel))
    session.migration?.willMake(context)
    let model = context.binding.model
    var values: [(column: Int, value: Value)] = []
    values.reserveCapacity(model.properties.count)
    var open: [Int] = []
    for (position, property) in model.properties.enumerated() {
      let column = context.binding.columns[position]
      guard column >= 0, unset[ObjectIdentifier(object)]?.contains(position) != true else { continue }
      var isOpen = false
      let value = property.access.stored(object, property.offset) { target in
        // An element of a collection of another realm is first met here.
        if isManagedHere(target) { return target.row }
        if target.isPart, !visited.contains(ObjectIdentifier(target)) {
          // The embedded object was just made for a value of the program's own type.
          own(target)
          addAll(target)
          return target.row
        }
        isOpen = true
        return nil
      }
      if property.type.column == .mixed { checkValues(value, model, position) }
      if isOpen { open.append(position) }
      values.append((column, value))
    }
    let (row, isNew) = place(object, values, context)
    if isNew { session.didInsert(row, context.binding) }
    for position in open { late.append((object, position)) }
    model.manage(object, row, of: context, keeping: open)
  }

  private func checkValues(_ value: Value, _ model: ObjectModel, _ position: Int) {
    guard model.properties[position].type.form != .value else { return }
    for element in value.elements ?? [] { model.check(element, fits: position) }
  }

  /// Makes a row of the values, or updates the row that the object stands for or whose primary key it has.
  private func place(
    _ object: ObjectBase, _ values: [(column: Int, value: Value)], _ context: ObjectContext
  ) -> (row: UInt64, isNew: Bool) {
    let binding = context.binding
    if let row = replaced[ObjectIdentifier(object)] {
      session.writing(binding) { (table) throws(StorageError) in
        try update(table, row, object, values, binding, except: nil)
      }
      return (row, false)
    }
    return session.writing(binding) { (table) throws(StorageError) in
      do throws(StorageError) {
        let row = try table.insert { (row: inout NewRow) throws(StorageError) in
          for (column, value) in values { try row.set(column, value) }
        }
        return (row, true)
      } catch .duplicateKey {
        guard let key = binding.model.primaryKey.map({ binding.columns[$0] }),
          let value = values.first(where: { $0.column == key })?.value,
          let row = try table.row(withPrimaryKey: value)
        else {
          raise("Duplicate primary key", "\(binding.model.name) has an object with that primary key already.")
        }
        guard policy != .error else {
          raise(
            "Duplicate primary key",
            "there is a \(binding.model.name) with \(binding.model.properties[binding.model.primaryKey!].name) = "
              + "\(text(value)) already; update it by add(_:update: .modified), or take another key.")
        }
        try update(table, row, object, values, binding, except: key)
        return (row, false)
      }
    }
  }

  /// Sets the values of the properties that were given.
  private func update(
    _ table: WritableTable, _ row: UInt64, _ object: ObjectBase, _ values: [(column: Int, value: Value)],
    _ binding: ClassBinding, except key: Int?
  ) throws(StorageError) {
    let given = given[ObjectIdentifier(object)]
    for (position, column) in binding.columns.enumerated() {
      guard column >= 0, column != key, given?.contains(position) ?? true,
        let value = values.first(where: { $0.column == column })?.value
      else { continue }
      try table.set(value, column, ofRow: row)
    }
  }

  private func text(_ value: Value) -> String {
    switch value {
    case .int(let number): "\(number)"
    case .string(let text): "'\(text)'"
    case .null: "nil"
    default: "the same value"
    }
  }
}
