import RealmStorage

/// A place in a collection.
public enum _CollectionStep: Hashable {
  case index(Int)
  case key(String)

  // Equivalent texts may be two keys.
  public static func == (left: _CollectionStep, right: _CollectionStep) -> Bool {
    switch (left, right) {
    case (.index(let left), .index(let right)): left == right
    case (.key(let left), .key(let right)): left.utf8.elementsEqual(right.utf8)
    default: false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .index(let index): hasher.combine(index)
    case .key(let key): for byte in key.utf8 { hasher.combine(byte) }
    }
  }
}

/// The cell of a managed collection: what its object's row holds, and how that is changed.
///
/// A collection that stands in another, as the values of `AnyRealmValue` may, is found by its place there: where something
/// else takes the place, it shows that; where others were put before it, it is not valid any more.
public struct _CollectionCell {
  let owner: ManagedRow
  let position: Int
  /// From the property's value to the collection.
  let path: [_CollectionStep]
  /// The property holds any values, and may hold none of this form any more.
  let mayBeGone: Bool
  /// It is the list of a property of its own, whose elements the engine reads and changes.
  let isList: Bool
  /// The same of a set or map.
  let isSorted: Bool
  /// How many moves there were in the session when it was found.
  private let moves: UInt64
  /// What the row held at a generation of the realm, outside of transactions.
  private var known: (value: Value, generation: UInt64)?
  /// Where the list stood at a generation of the realm, outside of transactions, where the engine reads its elements. It keeps no
  /// version in use.
  var knownList: (found: StoredList.Found, generation: UInt64)?
  /// The same of a set or map.
  var knownSorted: (found: StoredSorted.Found, generation: UInt64)?

  /// - Parameter value: what it holds, where that was just read.
  init(_ owner: ManagedRow, position: Int, path: [_CollectionStep] = [], _ value: Value? = nil) {
    self.owner = owner
    self.position = position
    self.path = path
    let type = owner.context.binding.model.properties[position].type
    isList = path.isEmpty && type.isElementwise && type.form == .list
    isSorted = path.isEmpty && type.isElementwise && type.form != .list
    mayBeGone = !path.isEmpty || (type.column == .mixed && type.form == .value)
    moves = owner.session.moves.count
    if let value, !owner.session.isWriting { known = (value, owner.session.generation) }
  }

  /// Of a collection that stands in this one, and holds `value`.
  func inner(at step: _CollectionStep, _ value: Value) -> _CollectionCell {
    _CollectionCell(owner, position: position, path: path + [step], value)
  }

  var realm: Realm { Realm(owner.session) }

  func isSame(as other: _CollectionCell) -> Bool {
    owner.isSame(as: other.owner) && position == other.position && path == other.path
  }

  private var name: String {
    let model = owner.context.binding.model
    return "\(model.name).\(model.properties[position].name)"
  }

  private var cell: PendingCollections.Cell { owner.context.cell(position, owner.row) }

  private var isMoved: Bool {
    !path.isEmpty && owner.session.moves.happened(cell, above: path, after: moves)
  }

  // MARK: - Reading

  func isInvalidated(_ form: Value.Form) -> Bool {
    guard owner.isThere, !isMoved else { return true }
    return mayBeGone && owner.value(position).inner(path[...])?.form != form
  }

  private mutating func value() -> Value? {
    let session = owner.session
    session.check()
    if isMoved { return nil }
    if let known, known.generation == session.generation, !owner.isInvalid { return known.value }
    let value = owner.value(position).inner(path[...])
    // In a transaction a collection that was changed is kept there, and a copy here would double it.
    if session.transaction == nil, let value { known = (value, session.generation) }
    return value
  }

  private func stopGone() -> Never {
    raise(
      "Invalidated collection",
      "\(name) holds another value now, in which this collection is not, or not at its place; ask isInvalidated before."
    )
  }

  /// The elements of a list or set.
  mutating func elements() -> [Value] {
    if case .list(let elements) = value() { return elements }
    if mayBeGone { stopGone() }
    return []
  }

  mutating func map() -> ValueMap {
    if case .map(let map) = value() { return map }
    if mayBeGone { stopGone() }
    return ValueMap()
  }

  // MARK: - Changing

  /// Stops the program where no transaction is open.
  func checkOpen() {
    owner.session.check()
    owner.session.requireTransaction("change \(name)")
  }

  /// Stops the program where it can't be changed.
  private func checkChange() -> ObjectContext {
    let context = owner.context
    checkOpen()
    if !owner.isThere { context.stopInvalidated(position) }
    return context
  }

  /// Changes a list or set.
  ///
  /// - Parameter moves: elements that stay may stand elsewhere then.
  mutating func changeElements(
    _ added: [Value], moves: Bool, _ body: (inout [Value], _ added: [Value]) -> Void
  ) {
    change(added) { value in
      guard case .list(var elements) = value else {
        if mayBeGone { stopGone() }
        return
      }
      // So that the elements are changed where they are.
      value = .null
      body(&elements, added)
      value = .list(elements)
    }
    if moves, owner.context.binding.model.properties[position].type.column == .mixed {
      owner.session.moves.note(cell, path)
    }
  }

  mutating func changeMap(_ added: [Value] = [], _ body: (inout ValueMap) -> Void) {
    change(added) { value in
      guard case .map(var map) = value else {
        if mayBeGone { stopGone() }
        return
      }
      value = .null
      body(&map)
      value = .map(map)
    }
  }

  private func change(_ added: [Value], _ body: (inout Value) -> Void) {
    let context = checkChange()
    if isMoved { stopGone() }
    let cell = cell
    // To read it is to note it, where it is a collection.
    if context.session.pending.value(cell) == nil { _ = owner.value(position) }
    context.session.pending.change(cell) { root in
      if path.isEmpty {
        body(&root)
      } else if !root.changeInner(path[...], body) {
        stopGone()
      }
    }
    context.session.didWrite()
  }

  /// The values of elements that are to be stored; objects that are in no realm are added.
  func stored<Element: RealmCollectionValue>(_ elements: [Element]) -> [Value] {
    if elements.isEmpty { return [] }
    if !Element._canLink, Element._elementType.target == nil {
      checkOpen()
      let model = owner.context.binding.model
      return elements.map { element in
        let value = element._elementValue { _ in nil }
        model.check(value, fits: position, depth: path.count)
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
      context.binding.model.check(value, fits: position, depth: path.count)
      return value
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

extension _PropertyType {
  /// The engine reads and changes the elements of such collections. Those of collections of any values may be collections, which
  /// are changed as parts of the whole.
  var isElementwise: Bool { form != .value && column != .mixed }
}

extension Value {
  /// What a collection is.
  enum Form {
    case list, map
  }

  /// Nil of what is no collection.
  var form: Form? {
    switch self {
    case .list: .list
    case .map: .map
    default: nil
    }
  }

  /// What stands at a path; nil where it leads nowhere.
  fileprivate func inner(_ path: ArraySlice<_CollectionStep>) -> Value? {
    guard let step = path.first else { return self }
    switch (self, step) {
    case (.list(let elements), .index(let index)):
      return elements.indices.contains(index) ? elements[index].inner(path.dropFirst()) : nil
    case (.map(let map), .key(let key)): return map[key]?.inner(path.dropFirst())
    default: return nil
    }
  }

  /// Changes what stands at a path; false where it leads nowhere.
  fileprivate mutating func changeInner(
    _ path: ArraySlice<_CollectionStep>, _ body: (inout Value) -> Void
  ) -> Bool {
    guard let step = path.first else {
      body(&self)
      return true
    }
    let rest = path.dropFirst()
    switch (self, step) {
    case (.list(var elements), .index(let index)) where elements.indices.contains(index):
      self = .null
      defer { self = .list(elements) }
      return elements[index].changeInner(rest, body)
    case (.map(var map), .key(let key)):
      guard var value = map[key] else { return false }
      // Both are changed where they are.
      self = .null
      map[key] = .null
      let isThere = value.changeInner(rest, body)
      map[key] = value
      self = .map(map)
      return isThere
    default: return false
    }
  }
}
