public import Foundation
import RealmStorage

/// An ordered collection in a property of an object: of values, or of links to objects, which it does not own.
///
/// Unmanaged it is a plain container. Managed it shows its object's row, and is changed in a write transaction only.
/// To read or change an element takes O(log n) in the number of elements.
public final class List<Element: RealmCollectionValue>: RealmCollection {
  /// Of an unmanaged list.
  private var unmanaged: [Element] = []
  /// Of an unmanaged list that is a copy of one which stores what the program has no values for: all elements, as they are stored.
  private var asStored: [Value]?
  /// Of a managed one.
  private var cell: _CollectionCell?
  /// Calls `body` with the cell of a managed list; nil of an unmanaged one. What is noted in the cell as it is read is not kept where
  /// it is frozen, as other threads may read it.
  @inline(__always)
  private func withCell<Result>(_ body: (inout _CollectionCell) -> Result) -> Result? {
    guard cell?.isFrozen != true else {
      var copy = cell
      return copy == nil ? nil : body(&copy!)
    }
    return cell == nil ? nil : body(&cell!)
  }

  /// An empty unmanaged list.
  public init() {}

  init(_ cell: _CollectionCell) { self.cell = cell.found() }

  // MARK: - Reading

  public var _content: _CollectionContent? {
    guard let cell, let type = Element.self as? ObjectBase.Type else { return nil }
    return _CollectionContent(
      cell.elementContext(as: type), .collection(cell.owner, position: cell.position))
  }

  public func _moved(to session: _RealmSession) -> List? { cell?.moved(to: session.session).map { List($0) } }

  /// The realm of a managed list; nil of an unmanaged one.
  public var realm: Realm? { cell?.realm }
  /// The object it belongs to was deleted, or its realm invalidated.
  public var isInvalidated: Bool { cell?.isInvalidated(.list) ?? false }
  /// The number of elements. O(1).
  public var count: Int {
    withCell { $0.count() } ?? asStored?.count ?? unmanaged.count
  }

  /// Walks the elements as they are when the walk begins, also where the loop changes the list. A walk over a managed list holds
  /// a few hundred elements in memory at a time.
  public func makeIterator() -> RLMIterator<Element> {
    guard let walk = withCell({ $0.walk() }), let cell = cell?.walking(since: walk.generation) else {
      guard let asStored else { return RLMIterator(unmanaged) }
      return RLMIterator(count: asStored.count) { Element._unmanagedElement(asStored[$0]) }
    }
    // To read one may stop the program.
    guard !Element._mayBeUnknown else {
      return RLMIterator(count: walk.count) {
        Element._element(walk.element(at: $0), in: cell, at: .position($0))
      }
    }
    let first = Self.elements(walk.elements(from: 0), in: cell, from: 0)
    if first.count == walk.count { return RLMIterator(first) }
    return RLMIterator(first: first) { Self.elements(walk.elements(from: $0), in: cell, from: $0) }
  }

  private var contents: [Element] {
    guard let values = withCell({ $0.elements() }), let cell else {
      return asStored?.map { Element._unmanagedElement($0) } ?? unmanaged
    }
    return Self.elements(values, in: cell, from: 0)
  }

  /// What a managed list holds from a place on. The usual types have code of their own.
  @_specialize(where Element == Int)
  @_specialize(where Element == Int64)
  @_specialize(where Element == Int32)
  @_specialize(where Element == Bool)
  @_specialize(where Element == Float)
  @_specialize(where Element == Double)
  @_specialize(where Element == String)
  @_specialize(where Element == Date)
  private static func elements(_ values: [Value], in cell: _CollectionCell, from start: Int) -> [Element] {
    var elements: [Element] = []
    elements.reserveCapacity(values.count)
    var index = start
    for value in values {
      elements.append(Element._element(value, in: cell, at: .position(index)))
      index += 1
    }
    return elements
  }

  /// The values of elements to be stored; nil of an unmanaged list.
  private func managedValues(_ added: [Element]) -> [Value]? {
    guard let cell else { return nil }
    guard !added.isEmpty, Self.holdsValues(cell) else { return cell.stored(added) }
    cell.checkOpen()
    return Self.values(added)
  }

  /// The engine changes the elements, which are no objects and made of none.
  private static func holdsValues(_ cell: _CollectionCell) -> Bool {
    cell.isList && !Element._canLink && Element._elementType.target == nil
  }

  /// The values of elements that are no objects.
  @_specialize(where Element == Int)
  @_specialize(where Element == Int64)
  @_specialize(where Element == Int32)
  @_specialize(where Element == Bool)
  @_specialize(where Element == Float)
  @_specialize(where Element == Double)
  @_specialize(where Element == String)
  @_specialize(where Element == Date)
  private static func values(_ elements: [Element]) -> [Value] {
    var values: [Value] = []
    values.reserveCapacity(elements.count)
    for element in elements { values.append(element._elementValue { _ in nil }) }
    return values
  }

  private func checkIndex(_ index: Int, below end: Int) {
    guard index >= 0, index < end else {
      raise("Index out of range", "there is no place \(index) in a list of \(count).")
    }
  }

  // MARK: - Changing

  /// The element at a place, from 0; a place that there is not stops the program. O(log n) in the number of elements.
  public subscript(position: Int) -> Element {
    get {
      if cell == nil, position >= unmanaged.count, let noted = PropertyRecorder.element(of: Element.self) {
        return noted
      }
      checkIndex(position, below: count)
      guard let value = withCell({ $0.element(at: position) }), let cell else {
        return asStored.map { Element._unmanagedElement($0[position]) } ?? unmanaged[position]
      }
      return Element._element(value, in: cell, at: .position(position))
    }
    set {
      checkIndex(position, below: count)
      change(.set(position), [newValue])
    }
  }

  /// Changes a list: an unmanaged one by its elements, a managed one by their values.
  func change(_ change: ListChange, _ added: [Element] = []) {
    guard let values = managedValues(added) else {
      if Element._canLink { FreedInTurn.note(self) }
      guard var known = asStored else { return change.apply(to: &unmanaged, added) }
      change.apply(to: &known, added.map { $0._elementValue { _ in nil } })
      asStored = known
      return
    }
    self.change(managed: change, values)
  }

  /// Changes the elements by values that are stored as they are. Some of them may be no value of the elements' type.
  private func change(_ change: ListChange, stored added: [Value]) {
    guard cell == nil else { return self.change(managed: change, added) }
    var known = asStored ?? unmanaged.map { $0._elementValue { _ in nil } }
    (unmanaged, asStored) = ([], nil)
    change.apply(to: &known, added)
    asStored = known
  }

  private func change(managed change: ListChange, _ added: [Value]) { cell?.change(list: change, added) }

  /// The elements of a collection of the library as it stores them, where the program has no value for one.
  private static func stored<S: Sequence>(of elements: S) -> [Value]? {
    Element._mayBeUnknown ? (elements as? any MayHoldUnknown)?.storedUnknown : nil
  }

  /// Adds an element behind all; an object that is in no realm is added to the list's.
  public func append(_ element: Element) {
    guard let cell, Self.holdsValues(cell) else { return change(.insert(at: count), [element]) }
    cell.append(element._elementValue { _ in nil })
  }

  /// So many elements at most are made values of together.
  private static var batch: Int { 4096 }

  /// Adds elements behind all, in their order.
  public func append<S: Sequence>(objectsIn elements: S) where S.Iterator.Element == Element {
    if let stored = Self.stored(of: elements) { return change(.insert(at: count), stored: stored) }
    insert(all: Array(elements), at: count)
  }

  private func insert(all elements: [Element], at index: Int) {
    var start = 0
    repeat {
      let end = Swift.min(elements.count, start + Self.batch)
      change(
        .insert(at: index + start),
        start == 0 && end == elements.count ? elements : Array(elements[start..<end]))
      start = end
    } while start < elements.count
  }

  /// - Precondition: `index` is at most `count`.
  public func insert(_ element: Element, at index: Int) {
    checkIndex(index, below: count + 1)
    change(.insert(at: index), [element])
  }

  /// Removes the element at a place, which is one of the list. A linked object stays; an embedded one is deleted.
  public func remove(at index: Int) {
    checkIndex(index, below: count)
    change(.remove(index..<index + 1))
  }

  /// Removes the first elements, of which there are so many.
  public func removeFirst(_ number: Int = 1) {
    checkIndex(number, below: count + 1)
    change(.remove(0..<number))
  }

  /// Removes the last elements, of which there are so many.
  public func removeLast(_ number: Int = 1) {
    let count = count
    checkIndex(number, below: count + 1)
    change(.remove(count - number..<count))
  }

  /// Removes all elements. Linked objects stay; embedded ones are deleted.
  public func removeAll() { change(.remove(0..<count)) }

  /// Puts an element to another place; those between move up or down by one.
  public func move(from: Int, to: Int) {
    checkIndex(from, below: count)
    checkIndex(to, below: count)
    change(.move(from: from, to: to))
  }

  /// Lets two elements change places.
  public func swapAt(_ first: Int, _ second: Int) {
    checkIndex(first, below: count)
    checkIndex(second, below: count)
    change(.swap(first, second))
  }

  /// Puts an element into another's place.
  ///
  /// - Precondition: `index` is one of the list.
  public func replace(index: Int, object: Element) { self[index] = object }

  /// Puts elements before the one at `index`, or behind all.
  ///
  /// - Precondition: `index` is at most `count`.
  public func insert<C: Collection>(contentsOf elements: C, at index: Int)
  where C.Iterator.Element == Element {
    replaceSubrange(index..<index, with: elements)
  }

  /// - Precondition: the range is one of the list.
  public func removeSubrange<R: RangeExpression>(_ range: R) where R.Bound == Int {
    replaceSubrange(range, with: EmptyCollection())
  }

  /// Puts elements, as many as there are, in the place of a range.
  ///
  /// - Precondition: the range is one of the list.
  public func replaceSubrange<C: Collection, R: RangeExpression>(_ range: R, with elements: C)
  where C.Iterator.Element == Element, R.Bound == Int {
    let range = range.relative(to: 0..<count)
    checkIndex(range.lowerBound, below: count + 1)
    checkIndex(range.upperBound, below: count + 1)
    if let stored = Self.stored(of: elements) { return change(.replace(range), stored: stored) }
    let elements = Array(elements)
    if range.isEmpty {
      insert(all: elements, at: range.lowerBound)
    } else {
      change(.replace(range), elements)
    }
  }

  /// Removes the elements at some places, which are those of before the first is removed.
  public func remove(atOffsets offsets: IndexSet) {
    check(offsets)
    change(.removeOffsets(offsets))
  }

  /// Puts the elements at some places before the one that was at `destination`, or behind all; they keep their order.
  public func move(fromOffsets offsets: IndexSet, toOffset destination: Int) {
    check(offsets)
    checkIndex(destination, below: count + 1)
    change(.moveOffsets(offsets, to: destination))
  }

  private func check(_ offsets: IndexSet) {
    if let last = offsets.last { checkIndex(last, below: count) }
  }

  /// The position of the first element that is equal; nil when there is none. Elements are told apart as those of sets are:
  /// texts by their bytes, NaN is found, and objects by their rows.
  public func index(of element: Element) -> Int? {
    guard let cell else {
      guard let asStored else { return place(of: element) }
      let value = SetElement(element._elementValue { _ in nil })
      return asStored.firstIndex { SetElement($0) == value }
    }
    // An embedded object that is made of a value has no row to look for.
    if element is any _CustomPersistable, Element._elementType.target != nil {
      return contents.firstIndex(of: element)
    }
    guard let value = cell.sought(element).map({ SetElement($0) }) else { return nil }
    return withCell({ $0.firstIndex { SetElement($0) == value } }) ?? nil
  }

  /// Of unmanaged lists. Those of values of any type may stand in each other.
  private func holdsSame(as other: List) -> Bool {
    if self === other { return true }
    if Element._canLink { Stack.check("lists that stand in each other are compared") }
    guard asStored != nil || other.asStored != nil else {
      return unmanaged.elementsEqual(other.unmanaged, by: { ElementIdentity.areEqual($0, $1) })
    }
    return _stored { _ in nil } == other._stored { _ in nil }
  }

  /// Whether both are one list of one object, or unmanaged and hold the same.
  public static func == (left: List, right: List) -> Bool {
    switch (left.cell, right.cell) {
    case (nil, nil): left.holdsSame(as: right)
    case (let left?, let right?): left.isSame(as: right)
    default: false
    }
  }
}

extension List: DescribedCollection {}

extension List: ValueCollection {
  var storedValues: [RealmStorage.Value] {
    withCell { $0.elements() } ?? asStored ?? unmanaged.map { $0._elementValue { _ in nil } }
  }
  var valueContent: ValueContent? { cell.map { ValueContent($0, .list) } }
}

extension List: MayHoldUnknown {
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

extension List: ExpressibleByArrayLiteral {
  /// An unmanaged list of these elements.
  public convenience init(arrayLiteral elements: Element...) {
    self.init()
    append(objectsIn: elements)
  }
}

@available(*, unavailable)
extension List: Sendable {}

extension List: _KeptInstance {
  public typealias PersistedType = List

  public static var _type: _PropertyType {
    var type = Element._elementType
    type.form = .list
    return type
  }
  public static func _converted(_ any: Any) -> List? {
    if let list = instance(any, of: List.self) { return list }
    let list = List()
    if isNull(any) { return list }
    guard let elements = any as? any Sequence else { return nil }
    for any in elements as any Sequence {
      if let element = Element._convertedElement(any) {
        list.append(element)
      } else if Element._elementType.isOptional, let unknown = Element._unknown(of: any) {
        list.change(.insert(at: list.count), stored: [unknown])
      } else {
        return nil
      }
    }
    return list
  }
  public func _assign(_ other: List) {
    if self === other || (realm != nil && self == other) { return }
    if let values = other.storedUnknown {
      if cell == nil { asStored = values } else { change(managed: .assign, values) }
      return
    }
    change(.assign, Array(other))
  }
  public func _stored(_ row: _RowOfObject) -> Value {
    if let asStored { return .list(asStored) }
    return .list(
      contents.map { $0._elementValue(row) }.filter { Element._elementType.isOptional || $0 != .null })
  }
  public var _linked: [ObjectBase] {
    Element._canLink && cell == nil ? unmanaged.flatMap(\._elementLinks) : []
  }
  public func _becomeManaged(_ object: ObjectBase, _ position: Int) {
    guard let owner = object.managedRow else { return }
    (cell, unmanaged, asStored) = (_CollectionCell(owner, position: position).found(), [], nil)
  }
}
