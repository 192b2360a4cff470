import RealmStorage

/// The cell of a managed collection: what its object's row holds, and how that is changed.
struct CollectionCell {
  let owner: ManagedRow
  let position: Int
  /// What the row held at a generation of the realm, outside of transactions.
  private var known: (value: Value, generation: UInt64)?

  init(_ owner: ManagedRow, position: Int) {
    self.owner = owner
    self.position = position
  }

  var realm: Realm { Realm(owner.session) }

  func isSame(as other: CollectionCell) -> Bool {
    owner.isSame(as: other.owner) && position == other.position
  }

  private mutating func value() -> Value {
    let session = owner.session
    session.check()
    if let known, known.generation == session.generation, !owner.isInvalid { return known.value }
    let value = owner.value(position)
    // In a transaction a collection that was changed is kept there, and a copy here would double it.
    if session.transaction == nil { known = (value, session.generation) }
    return value
  }

  /// The elements of a list or set.
  mutating func elements() -> [Value] { if case .list(let elements) = value() { elements } else { [] } }

  mutating func map() -> ValueMap { if case .map(let map) = value() { map } else { ValueMap() } }

  /// Stops the program where it can't be changed.
  private func checkChange() -> ObjectContext {
    let context = owner.context
    context.session.check()
    let property = context.binding.model.properties[position].name
    context.session.requireTransaction("change \(context.binding.model.name).\(property)")
    if !owner.isThere { context.stopInvalidated(position) }
    return context
  }

  /// Changes a list or set.
  mutating func changeElements(_ added: [Value], _ body: (inout [Value], _ added: [Value]) -> Void) {
    let context = checkChange()
    let cell = context.cell(position, owner.row)
    let before = context.session.pending.hasElements(cell) ? [] : elements()
    context.session.pending.changeElements(cell, from: before) { body(&$0, added) }
    didAdd(added, cell, context)
  }

  mutating func changeMap(_ added: [Value] = [], _ body: (inout ValueMap) -> Void) {
    let context = checkChange()
    let cell = context.cell(position, owner.row)
    let before = context.session.pending.hasMap(cell) ? ValueMap() : map()
    context.session.pending.changeMap(cell, from: before, body)
    didAdd(added, cell, context)
  }

  private func didAdd(_ added: [Value], _ cell: PendingCollections.Cell, _ context: ObjectContext) {
    if !added.isEmpty, context.binding.model.properties[position].type.target is EmbeddedObject.Type {
      context.session.pending.add(parts: added, to: cell)
    }
    context.session.didWrite()
  }

  /// The values of elements that are to be stored; objects that are in no realm are added.
  func stored<Element: RealmCollectionValue>(_ elements: [Element]) -> [Value] {
    if elements.isEmpty { return [] }
    let context = checkChange()
    let adder = ObjectAdder(context.session, .error)
    return elements.map { element in
      element._elementValue { object in
        context.binding.model.check(object, fits: position)
        return adder.add(object)
      }
    }
  }

  /// The value of an element that is looked for; nil of an object that is not in this realm.
  func sought<Element: RealmCollectionValue>(_ element: Element) -> Value? {
    var isElsewhere = false
    let value = element._elementValue { object in
      let row = object.context?.session === owner.session ? object.context?.row(of: object) : nil
      if row == nil { isElsewhere = true }
      return row
    }
    return isElsewhere ? nil : value
  }
}
