import Foundation
import RealmStorage

/// Distinct values in a property of an object, or links to distinct objects, which it does not own.
///
/// Unmanaged it is a plain container. Managed it shows its object's row, and is changed in a write transaction only. The
/// order of the elements is that of their values, of objects that in which they were added; unmanaged, that of insertion.
/// Numbers that are equal are one element; so are all NaN.
public final class MutableSet<Element: RealmCollectionValue>: RealmCollection {
  /// Of an unmanaged set: the elements in order, and the same to be found.
  private var unmanaged: [Element] = []
  private var members = Set<ElementIdentity>()
  /// Objects that were in no realm when they came into the set are found by another identity once they are in one.
  private var mayHaveBecomeManaged = false
  /// Of an unmanaged set that is a copy of one which stores what the program has no values for: all elements, as they are stored.
  private var asStored: [Value]?
  /// Of a managed one.
  private var cell: _CollectionCell?
  /// Calls `body` with the cell of a managed set; nil of an unmanaged one. What is noted in the cell as it is read is not kept where
  /// it is frozen, as other threads may read it.
  @inline(__always)
  private func withCell<Result>(_ body: (inout _CollectionCell) -> Result) -> Result? {
    guard cell?.isFrozen != true else {
      var copy = cell
      return copy == nil ? nil : body(&copy!)
    }
    return cell == nil ? nil : body(&cell!)
  }

  /// An empty unmanaged set.
  public init() {}

  init(_ cell: _CollectionCell) { self.cell = cell.found() }

  // MARK: - Reading

  public var _content: _CollectionContent? {
    guard let cell, let type = Element.self as? ObjectBase.Type else { return nil }
    return _CollectionContent(
      cell.elementContext(as: type), .collection(cell.owner, position: cell.position))
  }

  public func _moved(to session: _RealmSession) -> MutableSet? {
    cell?.moved(to: session.session).map { MutableSet($0) }
  }

  /// The realm of a managed set; nil of an unmanaged one.
  public var realm: Realm? { cell?.realm }
  /// The object it belongs to was deleted, or its realm invalidated.
  public var isInvalidated: Bool { cell?.isInvalidated(.list) ?? false }
  /// The number of elements. O(1).
  public var count: Int { withCell { $0.count() } ?? asStored?.count ?? unmanaged.count }
  /// Walks the elements as they are when the walk begins, also where the loop changes the set. A walk over a managed set holds a
  /// few hundred elements in memory at a time.
  public func makeIterator() -> RLMIterator<Element> {
    guard let walk = withCell({ $0.walk() }), let cell = cell?.walking(since: walk.generation) else {
      guard let asStored else { return RLMIterator(unmanaged) }
      return RLMIterator(count: asStored.count) { Element._unmanagedElement(asStored[$0]) }
    }
    func element(_ value: Value, _ position: Int) -> Element {
      Element._element(value, in: cell, at: .position(position))
    }
    // To read one may stop the program.
    guard !Element._mayBeUnknown else {
      return RLMIterator(count: walk.count) { element(walk.element(at: $0), $0) }
    }
    let first = walk.elements(from: 0).enumerated().map { element($1, $0) }
    if first.count == walk.count { return RLMIterator(first) }
    return RLMIterator(first: first) { start in
      walk.elements(from: start).enumerated().map { element($1, start + $0) }
    }
  }

  private var contents: [Element] {
    guard let values = withCell({ $0.elements() }), let cell else {
      return asStored?.map { Element._unmanagedElement($0) } ?? unmanaged
    }
    return values.enumerated().map { Element._element($1, in: cell, at: .position($0)) }
  }

  /// An element at a place, which changes with the set.
  public subscript(position: Int) -> Element {
    guard position >= 0, position < count else {
      raise("Index out of range", "there is no place \(position) in a set of \(count).")
    }
    guard let value = withCell({ $0.element(at: position) }), let cell else {
      return asStored.map { Element._unmanagedElement($0[position]) } ?? unmanaged[position]
    }
    return Element._element(value, in: cell, at: .position(position))
  }

  /// Whether a value, or an object of the same realm, is an element. O(log n) managed, O(1) unmanaged.
  public func contains(_ object: Element) -> Bool {
    guard let cell else { return isMember(object) }
    guard let value = cell.sought(object) else { return false }
    return withCell { $0.contains(value) } ?? false
  }

  /// The place of an element; nil when it is not in the set.
  public func index(of object: Element) -> Int? {
    if cell == nil, asStored == nil {
      return unmanaged.firstIndex { ElementIdentity($0) == ElementIdentity(object) }
    }
    guard let value = cell.map({ $0.sought(object) }) ?? object._elementValue({ _ in nil }) else {
      return nil
    }
    if cell != nil { return withCell({ $0.position(of: value) }) ?? nil }
    let place = SetPlace(of: value, in: asStored ?? [])
    return place.isThere ? place.index : nil
  }

  /// Of an unmanaged set.
  private func isMember(_ element: Element) -> Bool {
    if asStored != nil { return index(of: element) != nil }
    let member = ElementIdentity(element)
    if members.contains(member) { return true }
    guard mayHaveBecomeManaged, ElementIdentity.object(of: element)?.context != nil else { return false }
    return currentMembers().contains(member)
  }

  /// The identities that the elements of an unmanaged set have now.
  private func currentMembers() -> Set<ElementIdentity> {
    if mayHaveBecomeManaged {
      members = Set(unmanaged.map { ElementIdentity($0) })
      mayHaveBecomeManaged = Self.areToBecomeManaged(unmanaged)
    }
    return members
  }

  private static func areToBecomeManaged(_ elements: [Element]) -> Bool {
    Element._canLink
      && elements.contains { element in ElementIdentity.object(of: element).map { $0.context == nil } ?? false
      }
  }

  /// Whether all elements are in another set too.
  public func isSubset(of possibleSuperset: MutableSet<Element>) -> Bool {
    guard Element._mayBeUnknown else { return allSatisfy { possibleSuperset.contains($0) } }
    return indices.allSatisfy { has($0, in: possibleSuperset) }
  }

  /// Whether some element is in another set too.
  public func intersects(_ otherSet: MutableSet<Element>) -> Bool {
    guard Element._mayBeUnknown else { return contains { otherSet.contains($0) } }
    return indices.contains { has($0, in: otherSet) }
  }

  // MARK: - Changing

  /// Adds an element where it is not there.
  public func insert(_ object: Element) { insert(objectsIn: CollectionOfOne(object)) }

  /// Adds the elements that are not there.
  public func insert<S: Sequence>(objectsIn objects: S) where S.Iterator.Element == Element {
    if Element._mayBeUnknown, let values = (objects as? any MayHoldUnknown)?.storedUnknown {
      return insert(stored: Element._elementType.isOptional ? values : values.filter { $0 != .null })
    }
    let objects = Array(objects)
    guard let values = cell?.stored(objects) ?? plain(objects) else {
      if Element._canLink { FreedInTurn.note(self) }
      for object in objects where !isMember(object) {
        members.insert(ElementIdentity(object))
        if let new = ElementIdentity.object(of: object), new.context == nil { mayHaveBecomeManaged = true }
        unmanaged.append(object)
      }
      return
    }
    add(values)
  }

  /// Adds the values that are not there.
  private func add(_ added: [Value]) {
    guard let cell else { return change(added) { elements, values in Self.sortIn(&elements, values) } }
    cell.change { (table, column, row) throws(StorageError) in
      try table.insert(added, intoSet: column, ofRow: row) != nil
    }
  }

  private static func sortIn(_ values: inout [Value], _ added: [Value]) {
    guard added.count < fewValues else {
      values = elements(of: values + added)
      return
    }
    for value in added {
      let place = SetPlace(of: value, in: values)
      if !place.isThere { values.insert(value, at: place.index) }
    }
  }

  /// Adds values as they are stored, of which the program may have none of the elements' type.
  private func insert(stored added: [Value]) {
    if cell == nil, asStored == nil {
      asStored = Self.elements(of: unmanaged.map { $0._elementValue { _ in nil } })
      (unmanaged, members) = ([], [])
    }
    add(added)
  }

  /// Of a set that is kept as it would be stored.
  private func plain(_ objects: [Element]) -> [Value]? {
    asStored == nil ? nil : objects.map { $0._elementValue { _ in nil } }
  }

  /// More are sorted into a set than put one by one to their places.
  private static var fewValues: Int { 8 }

  private static func elements(of values: [Value]) -> [Value] { Value.set(values).elements ?? [] }

  /// Removes an element; nothing where it is not there.
  public func remove(_ object: Element) {
    guard cell != nil || asStored != nil else {
      guard isMember(object) else { return }
      let member = ElementIdentity(object)
      unmanaged.removeAll { ElementIdentity($0) == member }
      members = Set(unmanaged.map { ElementIdentity($0) })
      return
    }
    let value = cell.map { $0.sought(object) } ?? object._elementValue { _ in nil }
    if let cell {
      return cell.change { (table, column, row) throws(StorageError) in
        guard let value else { return try table.contains(row) }
        return try table.remove(value, fromSet: column, ofRow: row) != nil
      }
    }
    change { elements, _ in
      guard let value else { return }
      let place = SetPlace(of: value, in: elements)
      if place.isThere { elements.remove(at: place.index) }
    }
  }

  /// Removes all elements. Linked objects stay.
  public func removeAll() {
    (unmanaged, members, asStored) = ([], [], nil)
    if cell != nil { change { elements, _ in elements = [] } }
  }

  /// Keeps the elements that are in another set too.
  public func formIntersection(_ other: MutableSet<Element>) { keep { has($0, in: other) } }

  /// Removes the elements that are in another set.
  public func subtract(_ other: MutableSet<Element>) { keep { !has($0, in: other) } }

  /// Adds the elements of another set.
  public func formUnion(_ other: MutableSet<Element>) { insert(objectsIn: other) }

  /// Whether another set has the element at a place too.
  private func has(_ index: Int, in other: MutableSet) -> Bool {
    guard let unknown = unknownElement(at: index) else { return other.contains(self[index]) }
    return other.storedUnknown?.contains(unknown) ?? false
  }

  private func keep(where isKept: (Int) -> Bool) {
    let kept = indices.map(isKept)
    guard cell != nil || asStored != nil else {
      unmanaged = zip(unmanaged, kept).filter(\.1).map(\.0)
      members = Set(unmanaged.map { ElementIdentity($0) })
      return
    }
    change { elements, _ in elements = zip(elements, kept).filter(\.1).map(\.0) }
  }

  private func change(_ added: [Value] = [], _ body: (inout [Value], _ added: [Value]) -> Void) {
    guard var known = asStored else {
      guard var cell else { return }
      // What is left of a set is written whole.
      cell.checkOpen()
      var elements = cell.elements()
      body(&elements, added)
      return cell.change { (table, column, row) throws(StorageError) in
        try table.set(.list(elements), column, ofRow: row)
      }
    }
    body(&known, added)
    asStored = known
  }

  /// Whether both are one set of one object, or unmanaged and hold the same.
  public static func == (left: MutableSet, right: MutableSet) -> Bool {
    switch (left.cell, right.cell) {
    case (nil, nil):
      left.asStored == nil && right.asStored == nil
        ? left.currentMembers() == right.currentMembers()
        : left._stored { _ in nil } == right._stored { _ in nil }
    case (let left?, let right?): left.isSame(as: right)
    default: false
    }
  }
}

extension MutableSet: DescribedCollection {}

extension MutableSet: ValueCollection {
  var storedValues: [RealmStorage.Value] {
    withCell { $0.elements() } ?? asStored ?? unmanaged.map { $0._elementValue { _ in nil } }
  }
  var valueContent: ValueContent? { cell.map { ValueContent($0, .list) } }
}

extension MutableSet: MayHoldUnknown {
  func unknownElement(at index: Int) -> Value? {
    guard Element._mayBeUnknown, let value = withCell({ $0.element(at: index) }) ?? asStored?[index] else {
      return nil
    }
    return Element._isUnknown(value) ? value : nil
  }

  /// All elements as they are stored, where the program has no value for one of them.
  var storedUnknown: [Value]? {
    guard Element._mayBeUnknown, let values = withCell({ $0.elements() }) ?? asStored,
      values.contains(where: { Element._isUnknown($0) })
    else { return nil }
    return values
  }
}

extension MutableSet: ExpressibleByArrayLiteral {
  /// An unmanaged set of these elements, each once.
  public convenience init(arrayLiteral elements: Element...) {
    self.init()
    insert(objectsIn: elements)
  }
}

@available(*, unavailable)
extension MutableSet: Sendable {}

extension MutableSet: _KeptInstance {
  public typealias PersistedType = MutableSet

  public static var _type: _PropertyType {
    var type = Element._elementType
    type.form = .set
    return type
  }
  public static func _converted(_ any: Any) -> MutableSet? {
    if let set = instance(any, of: MutableSet.self) { return set }
    let set = MutableSet()
    if isNull(any) { return set }
    guard let elements = any as? any Sequence else { return nil }
    for any in elements as any Sequence {
      if let element = Element._convertedElement(any) {
        set.insert(element)
      } else if Element._elementType.isOptional, let unknown = Element._unknown(of: any) {
        set.insert(stored: [unknown])
      } else {
        return nil
      }
    }
    return set
  }
  public func _assign(_ other: MutableSet) {
    if self === other || (realm != nil && self == other) { return }
    if let values = other.storedUnknown {
      if cell == nil { asStored = values } else { change(values) { $0 = $1 } }
      return
    }
    let objects = Array(other)
    asStored = nil
    guard let values = cell?.stored(objects) else {
      if Element._canLink { FreedInTurn.note(self) }
      (unmanaged, members) = (objects, Set(objects.map { ElementIdentity($0) }))
      mayHaveBecomeManaged = Self.areToBecomeManaged(objects)
      return
    }
    change(values) { elements, values in elements = Self.elements(of: values) }
  }
  public func _stored(_ row: _RowOfObject) -> Value {
    if let asStored { return .list(asStored) }
    return .set(
      contents.map { $0._elementValue(row) }.filter { Element._elementType.isOptional || $0 != .null })
  }
  public var _linked: [ObjectBase] {
    Element._canLink && cell == nil ? unmanaged.flatMap(\._elementLinks) : []
  }
  public func _becomeManaged(_ object: ObjectBase, _ position: Int) {
    guard let owner = object.managedRow else { return }
    (cell, unmanaged, members, asStored) = (_CollectionCell(owner, position: position).found(), [], [], nil)
  }
}
