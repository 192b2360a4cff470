import Foundation
import RealmStorage

/// A set of distinct elements in a property of an object. It holds values or links to objects. It does not own linked
/// objects.
///
/// An unmanaged set is a plain container. A managed set shows the row of its object: it always holds what the realm holds
/// now. Values of a managed set are in ascending order, and objects in the order in which they were added to the realm. An
/// unmanaged set keeps the order of insertion. Numbers that are equal are one element, and so are all NaN.
///
/// A change of a managed set outside of a write transaction stops the program, and so does reading an invalidated set.
/// Objects that are not in a realm are added to the set's realm when they are put into a managed set. An object of another
/// realm stops the program.
public final class MutableSet<Element: RealmCollectionValue>: RealmCollection {
  /// The elements of an unmanaged set, in order. `members` holds the same elements for finding them.
  private var unmanaged: [Element] = []
  private var members = Set<ElementIdentity>()
  /// Whether an object of the set was in no realm when it was inserted. Its `ElementIdentity` changes when it is added
  /// to a realm.
  private var mayHaveBecomeManaged = false
  /// The elements of an unmanaged set in stored form, if it is a copy of a set that stores elements for which the program has
  /// no value.
  private var asStored: [Value]?
  /// The cell of a managed set.
  private var cell: _CollectionCell?
  /// Calls `body` with the cell of a managed set. The answer is nil if the set is unmanaged. What reading notes in the cell
  /// is not kept if the cell is frozen, because other threads may read it.
  @inline(__always)
  private func withCell<Result>(_ body: (inout _CollectionCell) -> Result) -> Result? {
    guard cell?.isFrozen != true else {
      var copy = cell
      return copy == nil ? nil : body(&copy!)
    }
    return cell == nil ? nil : body(&cell!)
  }

  /// Makes an empty unmanaged set.
  public init() {}

  init(_ cell: _CollectionCell) { self.cell = cell.found() }

  // MARK: - Reading

  /// The content that queries of the set read; nil if the set is unmanaged or holds no objects.
  public var _content: _CollectionContent? {
    guard let cell, let type = Element.self as? ObjectBase.Type else { return nil }
    return _CollectionContent(
      cell.elementContext(as: type), .collection(cell.owner, position: cell.position))
  }

  /// The same set in another session; nil if its object is not there, or the set is unmanaged.
  public func _moved(to session: _RealmSession) -> MutableSet? {
    cell?.moved(to: session.session).map { MutableSet($0) }
  }

  /// The realm of a managed set; nil if the set is unmanaged.
  public var realm: Realm? { cell?.realm }
  /// Whether the object that has the set was deleted, or its realm was invalidated. The value is false for an unmanaged set.
  public var isInvalidated: Bool { cell?.isInvalidated(.list) ?? false }
  /// The number of elements. O(1).
  public var count: Int { withCell { $0.count() } ?? asStored?.count ?? unmanaged.count }
  /// Makes an iterator over the elements that the set has now. The loop may change the set without an effect on the
  /// iteration. An iteration over a managed set holds a few hundred elements in memory at a time.
  public func makeIterator() -> RLMIterator<Element> {
    guard let walk = withCell({ $0.walk() }), let cell = cell?.walking(since: walk.generation) else {
      guard let asStored else { return RLMIterator(unmanaged) }
      return RLMIterator(count: asStored.count) { Element._unmanagedElement(asStored[$0]) }
    }
    func element(_ value: Value, _ position: Int) -> Element {
      Element._element(value, in: cell, at: .position(position))
    }
    // The elements are read one at a time because reading one may stop the program.
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

  /// The element at an index, from 0 to `count - 1`. Another index stops the program. The index of an element changes when
  /// the set changes.
  public subscript(position: Int) -> Element {
    guard position >= 0, position < count else {
      raise("Index out of range", "there is no place \(position) in a set of \(count).")
    }
    guard let value = withCell({ $0.element(at: position) }), let cell else {
      return asStored.map { Element._unmanagedElement($0[position]) } ?? unmanaged[position]
    }
    return Element._element(value, in: cell, at: .position(position))
  }

  /// Whether the set has an element. It takes O(log n) if the set is managed, and O(1) if it is unmanaged. The answer is
  /// false for an object that is not in the realm of a managed set.
  public func contains(_ object: Element) -> Bool {
    guard let cell else { return isMember(object) }
    guard let value = cell.sought(object) else { return false }
    return withCell { $0.contains(value) } ?? false
  }

  /// The index of an element; nil if the set does not have it.
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

  /// Whether an unmanaged set has an element.
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

  /// Whether another set has all elements of this set.
  public func isSubset(of possibleSuperset: MutableSet<Element>) -> Bool {
    guard Element._mayBeUnknown else { return allSatisfy { possibleSuperset.contains($0) } }
    return indices.allSatisfy { has($0, in: possibleSuperset) }
  }

  /// Whether another set has at least one element of this set.
  public func intersects(_ otherSet: MutableSet<Element>) -> Bool {
    guard Element._mayBeUnknown else { return contains { otherSet.contains($0) } }
    return indices.contains { has($0, in: otherSet) }
  }

  // MARK: - Changing

  /// Inserts an element. It has no effect if the set has it already.
  public func insert(_ object: Element) { insert(objectsIn: CollectionOfOne(object)) }

  /// Inserts elements. Those that the set has already are left out.
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

  /// Inserts stored values. Those that the set has already are left out.
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

  /// Inserts stored values. The program may have no value for some of them.
  private func insert(stored added: [Value]) {
    if cell == nil, asStored == nil {
      asStored = Self.elements(of: unmanaged.map { $0._elementValue { _ in nil } })
      (unmanaged, members) = ([], [])
    }
    add(added)
  }

  /// The stored form of elements if the unmanaged set keeps its elements in stored form; nil otherwise.
  private func plain(_ objects: [Element]) -> [Value]? {
    asStored == nil ? nil : objects.map { $0._elementValue { _ in nil } }
  }

  /// If at least this many values are added, the set is sorted anew instead of inserting them one by one.
  private static var fewValues: Int { 8 }

  private static func elements(of values: [Value]) -> [Value] { Value.set(values).elements ?? [] }

  /// Removes an element. It has no effect if the set does not have it. A linked object stays in the realm.
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

  /// Removes all elements. Linked objects stay in the realm.
  public func removeAll() {
    (unmanaged, members, asStored) = ([], [], nil)
    if cell != nil { change { elements, _ in elements = [] } }
  }

  /// Keeps only the elements that another set has too.
  public func formIntersection(_ other: MutableSet<Element>) { keep { has($0, in: other) } }

  /// Removes the elements that another set has.
  public func subtract(_ other: MutableSet<Element>) { keep { !has($0, in: other) } }

  /// Inserts the elements of another set.
  public func formUnion(_ other: MutableSet<Element>) { insert(objectsIn: other) }

  /// Whether another set has the element at an index of this set.
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
      // The elements that are left are written as a whole.
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

  /// Whether both are the same set of the same object, or both are unmanaged and hold equal elements.
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

  /// All elements in stored form if the program has no value for one of them; nil otherwise.
  var storedUnknown: [Value]? {
    guard Element._mayBeUnknown, let values = withCell({ $0.elements() }) ?? asStored,
      values.contains(where: { Element._isUnknown($0) })
    else { return nil }
    return values
  }
}

extension MutableSet: ExpressibleByArrayLiteral {
  /// Makes an unmanaged set of the elements of an array literal. Elements that are equal become one.
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
