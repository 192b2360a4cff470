import RealmStorage

/// The cell of a managed collection: what the row of its object holds, and how that is changed.
///
/// A list or map in an `AnyRealmValue` is found by its id, at whatever place in the property. If it was replaced or removed, it
/// is invalid.
public struct _CollectionCell {
  let owner: ManagedRow
  let position: Int
  let kind: Kind
  /// The generation of the realm in which a loop began, if the cell makes elements for the loop; nil if it makes them
  /// from the current content.
  private var walkGeneration: UInt64?
  /// The value of the row in a generation of the realm in which no transaction was open.
  private var known: (value: Value, generation: UInt64)?
  /// The place of a list whose elements the engine reads, in a generation of the realm in which no transaction was
  /// open. It keeps no version in use.
  var knownList: (found: StoredList.Found, generation: UInt64)?
  /// The place of a set or map, in a generation of the realm in which no transaction was open. It keeps no version in
  /// use.
  var knownSorted: (found: StoredSorted.Found, generation: UInt64)?

  enum Kind {
    /// A list that is a property of its own, whose elements the engine reads and changes.
    case list
    /// A set or map that is a property of its own.
    case sorted
    /// A list or map in an `AnyRealmValue`.
    case nested(NestedPlace, depth: Int)
  }

  /// Makes the cell of a collection that is a property of its own.
  init(_ owner: ManagedRow, position: Int) {
    self.owner = owner
    self.position = position
    let form = owner.context.binding.model.properties[position].type.form
    kind = form == .list ? .list : .sorted
  }

  private init(_ owner: ManagedRow, position: Int, _ kind: Kind) {
    (self.owner, self.position, self.kind) = (owner, position, kind)
  }

  /// Makes the cell of the list or map in a property of any value.
  init(_ owner: ManagedRow, position: Int, holding value: Value) {
    self.init(
      owner, position: position, value, near: nil, depth: 0, generation: owner.session.generation)
  }

  private init(
    _ owner: ManagedRow, position: Int, _ value: Value, near: NestedPlace.Step?, depth: Int,
    generation: UInt64
  ) {
    self.owner = owner
    self.position = position
    let place = NestedPlace(
      column: owner.context.binding.columns[position], row: owner.row, id: value.nestedID, near: near)
    kind = .nested(place, depth: depth)
    if !owner.session.isWriting { known = (value, generation) }
  }

  /// This cell, for the elements of a loop that began in a generation.
  func walking(since generation: UInt64) -> _CollectionCell {
    var cell = self
    cell.walkGeneration = generation
    return cell
  }

  /// The generation in which the elements existed that are made now.
  var elementBirth: UInt64 { walkGeneration ?? owner.session.generation }

  /// The cell of a collection that is an element of this one and holds `value`.
  func inner(at step: NestedPlace.Step, _ value: Value) -> _CollectionCell {
    if case .nested(let place, let depth) = kind {
      return _CollectionCell(
        owner, position: position, value, near: place.near, depth: depth + 1, generation: elementBirth)
    }
    return _CollectionCell(owner, position: position, value, near: step, depth: 1, generation: elementBirth)
  }

  var realm: Realm { Realm(owner.session) }

  /// The context of the objects that the collection links to.
  func elementContext(as type: ObjectBase.Type) -> ObjectContext {
    owner.context.target(position, as: type).counted
  }

  /// Whether the collection never changes, so that several threads may read it at a time.
  var isFrozen: Bool { owner.isFrozen }

  /// The same collection in another session; nil if the collection or its object does not exist there.
  func moved(to session: RealmSession) -> _CollectionCell? {
    guard let owner = owner.moved(to: session) else { return nil }
    var moved = _CollectionCell(owner, position: position, kind)
    // A list or map in an `AnyRealmValue` may not exist any more even if its object does.
    if let nestedPlace, !session.namesOnly, moved.nested(nestedPlace) == nil { return nil }
    return moved
  }

  /// A cell of a frozen collection that has found its content already, because a frozen cell can't note that at its
  /// first use. For any other collection it is this cell.
  func found() -> _CollectionCell {
    guard isFrozen, !owner.isNameOnly, nestedPlace == nil, owner.isThere else { return self }
    var cell = self
    if isList { _ = cell.storedList() } else { _ = cell.storedSorted() }
    return cell
  }

  var isList: Bool { if case .list = kind { true } else { false } }
  var isSorted: Bool { if case .sorted = kind { true } else { false } }

  /// The place of a list or map in an `AnyRealmValue`; nil for other collections.
  var nestedPlace: NestedPlace? { if case .nested(let place, _) = kind { place } else { nil } }

  /// The number of lists and maps around this one in its property.
  private var depth: Int { if case .nested(_, let depth) = kind { depth } else { 0 } }

  func isSame(as other: _CollectionCell) -> Bool {
    owner.isSame(as: other.owner) && position == other.position && nestedPlace?.id == other.nestedPlace?.id
  }

  private var name: String {
    let model = owner.context.binding.model
    return "\(model.name).\(model.properties[position].name)"
  }

  // MARK: - Reading

  func isInvalidated(_ form: Value.Form) -> Bool {
    guard owner.isThere else { return true }
    guard let nestedPlace else { return false }
    var copy = self
    return copy.nested(nestedPlace)?.form != form
  }

  private mutating func value() -> Value? {
    if let nestedPlace { return nested(nestedPlace) }
    let session = owner.session
    session.check()
    if let known, known.generation == session.generation, !owner.isInvalid { return known.value }
    let value = owner.value(position)
    // In a transaction the engine holds the changed content, and a copy here would take as much memory again.
    if session.transaction == nil { known = (value, session.generation) }
    return value
  }

  /// The list or map at a place; nil if it is not in its property any more.
  private mutating func nested(_ place: NestedPlace) -> Value? {
    let session = owner.session
    session.check()
    if let known, known.generation == session.generation, !owner.isInvalid { return known.value }
    guard !session.isWriting else {
      return read(orEmpty: .some(nil)) { (table) throws(StorageError) -> Value?? in
        guard try table.contains(place.row) else { return nil }
        return .some(try table.value(at: place))
      }
    }
    let value = owner.context.collection(position, owner.row, birth: owner.birth) {
      (table, _, row) throws(StorageError) -> Value?? in
      guard try table.contains(row) else { return nil }
      return .some(try table.value(at: place))
    } orEmpty: { _, _ in
      .some(nil)
    }
    if let value { known = (value, session.generation) }
    return value
  }

  func stopGone() -> Never {
    raise(
      "Invalidated collection",
      "\(name) does not hold this collection any more: it was replaced or removed; ask isInvalidated before.")
  }

  /// The list or map in an `AnyRealmValue`.
  mutating func nestedValue() -> Value {
    guard let value = value(), value.form != nil else { stopGone() }
    return value
  }

  /// The elements of a list or set.
  mutating func elements() -> [Value] {
    if case .list(let elements, _) = value() { return elements }
    if nestedPlace != nil, !isOfKept { stopGone() }
    return []
  }

  mutating func map() -> ValueMap {
    if case .map(let map, _) = value() { return map }
    if nestedPlace != nil, !isOfKept { stopGone() }
    return ValueMap()
  }

  /// Whether the object of the collection was deleted, in a realm that keeps the values of deleted objects. The
  /// collection is then empty.
  var isOfKept: Bool {
    owner.context.notesHandles && !owner.isInvalid && !owner.isThere
  }

  // MARK: - Changing

  /// Stops the program if no transaction is open.
  func checkOpen() {
    owner.session.check()
    owner.session.requireTransaction("change \(name)")
  }

  /// Stops the program if the collection can't be changed now, or its object does not exist any more.
  private func checkChange() -> ObjectContext {
    let context = owner.context
    checkOpen()
    if !owner.isThere { context.stopInvalidated(position) }
    return context
  }

  /// The stored values of elements. Objects that are in no realm are added.
  func stored<Element: RealmCollectionValue>(_ elements: [Element]) -> [Value] {
    if elements.isEmpty { return [] }
    if !Element._canLink, Element._elementType.target == nil {
      checkOpen()
      let model = owner.context.binding.model
      return elements.map { element in
        let value = element._elementValue { _ in nil }
        model.check(value, fits: position, depth: depth)
        return value
      }
    }
    let context = checkChange()
    let adder = ObjectAdder(context.session, .error)
    return elements.map { element in
      let value = element._elementValue { object in
        context.binding.model.check(object, fits: position)
        return adder.add(object)
      }
      context.binding.model.check(value, fits: position, depth: depth)
      return value
    }
  }

  /// The stored value of an element that is searched for; nil for an object that is not in this realm.
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

extension Value {
  /// The kinds of collections.
  enum Form {
    case list, map
  }

  /// The kind of collection; nil for a value that is no collection.
  var form: Form? {
    switch self {
    case .list: .list
    case .map: .map
    default: nil
    }
  }
}
