public import Foundation
import RealmStorage

/// An ordered collection in a property of an object. It holds values or links to objects. It does not own linked objects,
/// except embedded ones.
///
/// An unmanaged list is a plain container. A managed list shows the row of its object: it always holds what the realm holds
/// now. Reading or changing one element takes O(log n).
///
/// A change of a managed list outside of a write transaction stops the program, and so does reading an invalidated list.
/// Objects that are not in a realm are added to the list's realm when they are put into a managed list. An object of another
/// realm stops the program.
public final class List<Element: RealmCollectionValue>: RealmCollection {
  /// The elements of an unmanaged list.
  private var unmanaged: [Element] = []
  /// The elements of an unmanaged list in stored form, if it is a copy of a list that stores elements for which the program
  /// has no value.
  private var asStored: [Value]?
  /// The cell of a managed list.
  private var cell: _CollectionCell?
  /// Calls `body` with the cell of a managed list. The answer is nil if the list is unmanaged. What reading notes in the cell
  /// is not kept if the cell is frozen, because other threads may read it.
  @inline(__always)
  private func withCell<Result>(_ body: (inout _CollectionCell) -> Result) -> Result? {
    guard cell?.isFrozen != true else {
      var copy = cell
      return copy == nil ? nil : body(&copy!)
    }
    return cell == nil ? nil : body(&cell!)
  }

  /// Makes an empty unmanaged list.
  public init() {}

  init(_ cell: _CollectionCell) { self.cell = cell.found() }

  // MARK: - Reading

  /// The content that queries of the list read; nil if the list is unmanaged or holds no objects.
  public var _content: _CollectionContent? {
    guard let cell, let type = Element.self as? ObjectBase.Type else { return nil }
    return _CollectionContent(
      cell.elementContext(as: type), .collection(cell.owner, position: cell.position))
  }

  /// The same list in another session; nil if its object is not there, or the list is unmanaged.
  public func _moved(to session: _RealmSession) -> List? { cell?.moved(to: session.session).map { List($0) } }

  /// The realm of a managed list; nil if the list is unmanaged.
  public var realm: Realm? { cell?.realm }
  /// Whether the object that has the list was deleted, or its realm was invalidated. The value is false for an unmanaged
  /// list.
  public var isInvalidated: Bool { cell?.isInvalidated(.list) ?? false }
  /// The number of elements. O(1).
  public var count: Int {
    withCell { $0.count() } ?? asStored?.count ?? unmanaged.count
  }

  /// Makes an iterator over the elements that the list has now. The loop may change the list without an effect on the
  /// iteration. An iteration over a managed list holds a few hundred elements in memory at a time.
  public func makeIterator() -> RLMIterator<Element> {
    guard let walk = withCell({ $0.walk() }), let cell = cell?.walking(since: walk.generation) else {
      guard let asStored else { return RLMIterator(unmanaged) }
      return RLMIterator(count: asStored.count) { Element._unmanagedElement(asStored[$0]) }
    }
    // The elements are read one at a time because reading one may stop the program.
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

  /// The elements of a managed list from `start` on. The attributes give common types code of their own.
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

  /// The stored values of elements to add; nil if the list is unmanaged.
  private func managedValues(_ added: [Element]) -> [Value]? {
    guard let cell else { return nil }
    guard !added.isEmpty, Self.holdsValues(cell) else { return cell.stored(added) }
    cell.checkOpen()
    return Self.values(added)
  }

  /// Whether the engine itself changes the elements: they are not objects and not made of objects.
  private static func holdsValues(_ cell: _CollectionCell) -> Bool {
    cell.isList && !Element._canLink && Element._elementType.target == nil
  }

  /// The stored values of elements that are not objects.
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

  /// The element at an index, from 0 to `count - 1`. Another index stops the program. O(log n).
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

  /// Changes the elements of an unmanaged list, or the stored values of a managed one.
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

  /// Changes the list by stored values. The program may have no value for some of them.
  private func change(_ change: ListChange, stored added: [Value]) {
    guard cell == nil else { return self.change(managed: change, added) }
    var known = asStored ?? unmanaged.map { $0._elementValue { _ in nil } }
    (unmanaged, asStored) = ([], nil)
    change.apply(to: &known, added)
    asStored = known
  }

  private func change(managed change: ListChange, _ added: [Value]) { cell?.change(list: change, added) }

  /// The stored elements of a collection of this library if the program has no value for one of them; nil otherwise.
  private static func stored<S: Sequence>(of elements: S) -> [Value]? {
    Element._mayBeUnknown ? (elements as? any MayHoldUnknown)?.storedUnknown : nil
  }

  /// Adds an element at the end. O(log n).
  public func append(_ element: Element) {
    guard let cell, Self.holdsValues(cell) else { return change(.insert(at: count), [element]) }
    cell.append(element._elementValue { _ in nil })
  }

  /// The largest number of elements whose stored values are made at once.
  private static var batch: Int { 4096 }

  /// Adds elements at the end, in their order.
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

  /// Inserts an element before the one at `index`, or at the end if `index` equals `count`. O(log n).
  ///
  /// - Parameters:
  ///   - element: the element to insert.
  ///   - index: from 0 to `count`. Another index stops the program.
  public func insert(_ element: Element, at index: Int) {
    checkIndex(index, below: count + 1)
    change(.insert(at: index), [element])
  }

  /// Removes the element at `index`. A linked object stays in the realm; an embedded object is deleted. O(log n).
  ///
  /// - Parameter index: from 0 to `count - 1`. Another index stops the program.
  public func remove(at index: Int) {
    checkIndex(index, below: count)
    change(.remove(index..<index + 1))
  }

  /// Removes the first `number` elements. Linked objects stay in the realm; embedded objects are deleted.
  ///
  /// - Parameter number: from 0 to `count`. Another number stops the program.
  public func removeFirst(_ number: Int = 1) {
    checkIndex(number, below: count + 1)
    change(.remove(0..<number))
  }

  /// Removes the last `number` elements. Linked objects stay in the realm; embedded objects are deleted.
  ///
  /// - Parameter number: from 0 to `count`. Another number stops the program.
  public func removeLast(_ number: Int = 1) {
    let count = count
    checkIndex(number, below: count + 1)
    change(.remove(count - number..<count))
  }

  /// Removes all elements. Linked objects stay in the realm; embedded objects are deleted.
  public func removeAll() { change(.remove(0..<count)) }

  /// Moves an element to another index. The elements between the two indexes move by one.
  ///
  /// - Parameters:
  ///   - from: the index of the element, from 0 to `count - 1`.
  ///   - to: the index of the element after the move, from 0 to `count - 1`. Another index stops the program.
  public func move(from: Int, to: Int) {
    checkIndex(from, below: count)
    checkIndex(to, below: count)
    change(.move(from: from, to: to))
  }

  /// Exchanges two elements.
  ///
  /// Both indexes are from 0 to `count - 1`. Another index stops the program.
  public func swapAt(_ first: Int, _ second: Int) {
    checkIndex(first, below: count)
    checkIndex(second, below: count)
    change(.swap(first, second))
  }

  /// Replaces the element at `index`, as `self[index] = object` does.
  ///
  /// - Parameters:
  ///   - index: from 0 to `count - 1`. Another index stops the program.
  ///   - object: the new element.
  public func replace(index: Int, object: Element) { self[index] = object }

  /// Inserts elements before the one at `index`, or at the end if `index` equals `count`.
  ///
  /// - Parameters:
  ///   - elements: the elements to insert, in their order.
  ///   - index: from 0 to `count`. Another index stops the program.
  public func insert<C: Collection>(contentsOf elements: C, at index: Int)
  where C.Iterator.Element == Element {
    replaceSubrange(index..<index, with: elements)
  }

  /// Removes the elements of a range. Linked objects stay in the realm; embedded objects are deleted.
  ///
  /// - Parameter range: a range within `0..<count`. Another range stops the program.
  public func removeSubrange<R: RangeExpression>(_ range: R) where R.Bound == Int {
    replaceSubrange(range, with: EmptyCollection())
  }

  /// Replaces the elements of a range by others, whose number may differ. Linked objects that are replaced stay in the realm;
  /// embedded objects are deleted.
  ///
  /// - Parameters:
  ///   - range: a range within `0..<count`. Another range stops the program.
  ///   - elements: the new elements, in their order.
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

  /// Removes the elements at several indexes. Linked objects stay in the realm; embedded objects are deleted.
  ///
  /// - Parameter offsets: indexes as they are before the removal. An index that is not less than `count` stops the program.
  public func remove(atOffsets offsets: IndexSet) {
    check(offsets)
    change(.removeOffsets(offsets))
  }

  /// Moves elements before the one at `destination`, or to the end if `destination` equals `count`. They keep their order.
  ///
  /// - Parameters:
  ///   - offsets: the indexes of the elements to move. An index that is not less than `count` stops the program.
  ///   - destination: an index as it is before the move, from 0 to `count`. Another index stops the program.
  public func move(fromOffsets offsets: IndexSet, toOffset destination: Int) {
    check(offsets)
    checkIndex(destination, below: count + 1)
    change(.moveOffsets(offsets, to: destination))
  }

  private func check(_ offsets: IndexSet) {
    if let last = offsets.last { checkIndex(last, below: count) }
  }

  /// The index of the first element that equals `element`; nil if there is none. O(n).
  ///
  /// Elements are compared as those of sets are: texts by their bytes, NaN equals NaN, and objects are equal if they show the
  /// same row.
  public func index(of element: Element) -> Int? {
    guard let cell else {
      guard let asStored else { return place(of: element) }
      let value = SetElement(element._elementValue { _ in nil })
      return asStored.firstIndex { SetElement($0) == value }
    }
    // An embedded object that is made of a value has no row to search for.
    if element is any _CustomPersistable, Element._elementType.target != nil {
      return contents.firstIndex(of: element)
    }
    guard let value = cell.sought(element).map({ SetElement($0) }) else { return nil }
    return withCell({ $0.firstIndex { SetElement($0) == value } }) ?? nil
  }

  /// Whether two unmanaged lists hold equal elements. Lists of values of any type may contain other lists.
  private func holdsSame(as other: List) -> Bool {
    if self === other { return true }
    if Element._canLink { Stack.check("lists that stand in each other are compared") }
    guard asStored != nil || other.asStored != nil else {
      return unmanaged.elementsEqual(other.unmanaged, by: { ElementIdentity.areEqual($0, $1) })
    }
    return _stored { _ in nil } == other._stored { _ in nil }
  }

  /// Whether both are the same list of the same object, or both are unmanaged and hold equal elements in the same order.
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

  /// All elements in stored form if the program has no value for one of them; nil otherwise.
  var storedUnknown: [Value]? {
    guard Element._mayBeUnknown, let values = withCell({ $0.elements() }) ?? asStored,
      values.contains(where: { Element._isUnknown($0) })
    else { return nil }
    return values
  }
}

extension List: ExpressibleByArrayLiteral {
  /// Makes an unmanaged list of the elements of an array literal.
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
