public import Foundation
import RealmStorage

/// An ordered collection in a property of an object: of values, or of links to objects, which it does not own.
///
/// Unmanaged it is a plain container. Managed it shows its object's row, and is changed in a write transaction only.
/// The changes of a transaction take time in proportion to the list once, and besides as those of an array do.
public final class List<Element: RealmCollectionValue>: RealmCollection {
  /// Of an unmanaged list.
  private var unmanaged: [Element] = []
  /// Of an unmanaged list that is a copy of one which stores what the program has no values for: all elements, as they are stored.
  private var asStored: [Value]?
  /// Of a managed one.
  private var cell: _CollectionCell?

  /// An empty unmanaged list.
  public init() {}

  init(_ cell: _CollectionCell) { self.cell = cell }

  // MARK: - Reading

  public var _content: _CollectionContent? {
    guard let cell, let type = Element.self as? ObjectBase.Type else { return nil }
    return _CollectionContent(
      cell.owner.session.context(type), .collection(cell.owner, position: cell.position))
  }

  /// The realm of a managed list; nil of an unmanaged one.
  public var realm: Realm? { cell?.realm }
  /// The object it belongs to was deleted, or its realm invalidated.
  public var isInvalidated: Bool { cell?.isInvalidated(.list) ?? false }
  /// The number of elements. O(1) after the first read of a version.
  public var count: Int { cell?.elements().count ?? asStored?.count ?? unmanaged.count }
  public func makeIterator() -> RLMIterator<Element> {
    Element._mayBeUnknown ? RLMIterator(count: count) { self[$0] } : RLMIterator(contents)
  }

  private var contents: [Element] {
    guard let values = cell?.elements(), let cell else {
      return asStored?.map { Element._unmanagedElement($0) } ?? unmanaged
    }
    return values.enumerated().map { Element._element($1, in: cell, at: .index($0)) }
  }

  private func checkIndex(_ index: Int, below end: Int) {
    guard index >= 0, index < end else {
      raise("Index out of range", "there is no place \(index) in a list of \(count).")
    }
  }

  // MARK: - Changing

  /// The element at a place, from 0; a place that there is not stops the program. O(1) after the first read of a version.
  public subscript(position: Int) -> Element {
    get {
      if cell == nil, position >= unmanaged.count, let noted = PropertyRecorder.element(of: Element.self) {
        return noted
      }
      checkIndex(position, below: count)
      guard let values = cell?.elements(), let cell else {
        return asStored.map { Element._unmanagedElement($0[position]) } ?? unmanaged[position]
      }
      return Element._element(values[position], in: cell, at: .index(position))
    }
    set {
      checkIndex(position, below: count)
      change(
        [newValue], moves: false, { $0[position] = newValue },
        { values, added in values[position] = added[0] })
    }
  }

  /// Changes a list: an unmanaged one by its elements, a managed one by their values.
  ///
  /// - Parameters:
  ///   - added: the elements whose values `values` is given.
  ///   - moves: elements that stay may stand elsewhere then.
  func change(
    _ added: [Element], moves: Bool = true, _ elements: (inout [Element]) -> Void,
    _ values: (inout [Value], _ added: [Value]) -> Void
  ) {
    guard let added = cell?.stored(added) else {
      if Element._canLink { FreedInTurn.note(self) }
      guard var known = asStored else { return elements(&unmanaged) }
      values(&known, added.map { $0._elementValue { _ in nil } })
      asStored = known
      return
    }
    cell?.changeElements(added, moves: moves, values)
  }

  /// Changes the elements by values that are stored as they are. Some of them may be no value of the elements' type.
  func change(
    stored added: [Value], moves: Bool = true, _ values: (inout [Value], _ added: [Value]) -> Void
  ) {
    guard cell == nil else {
      cell?.changeElements(added, moves: moves, values)
      return
    }
    var known = asStored ?? unmanaged.map { $0._elementValue { _ in nil } }
    (unmanaged, asStored) = ([], nil)
    values(&known, added)
    asStored = known
  }

  /// The elements of a collection of the library as it stores them, where the program has no value for one.
  private static func stored<S: Sequence>(of elements: S) -> [Value]? {
    Element._mayBeUnknown ? (elements as? any MayHoldUnknown)?.storedUnknown : nil
  }

  /// Adds an element behind all; an object that is in no realm is added to the list's.
  public func append(_ element: Element) {
    change([element], moves: false, { $0.append(element) }, { values, added in values += added })
  }

  /// Adds elements behind all, in their order.
  public func append<S: Sequence>(objectsIn elements: S) where S.Iterator.Element == Element {
    if let stored = Self.stored(of: elements) {
      return change(stored: stored, moves: false) { values, added in values += added }
    }
    let elements = Array(elements)
    change(elements, moves: false, { $0.append(contentsOf: elements) }, { values, added in values += added })
  }

  /// - Precondition: `index` is at most `count`.
  public func insert(_ element: Element, at index: Int) {
    checkIndex(index, below: count + 1)
    change(
      [element], { $0.insert(element, at: index) }, { values, added in values.insert(added[0], at: index) })
  }

  /// Removes the element at a place, which is one of the list. A linked object stays; an embedded one is deleted.
  public func remove(at index: Int) {
    checkIndex(index, below: count)
    change([], { $0.remove(at: index) }, { values, _ in values.remove(at: index) })
  }

  /// Removes the first elements, of which there are so many.
  public func removeFirst(_ number: Int = 1) {
    checkIndex(number, below: count + 1)
    change([], { $0.removeFirst(number) }, { values, _ in values.removeFirst(number) })
  }

  /// Removes the last elements, of which there are so many.
  public func removeLast(_ number: Int = 1) {
    checkIndex(number, below: count + 1)
    change([], { $0.removeLast(number) }, { values, _ in values.removeLast(number) })
  }

  /// Removes all elements. Linked objects stay; embedded ones are deleted.
  public func removeAll() { change([], { $0.removeAll() }, { values, _ in values.removeAll() }) }

  /// Puts an element to another place; those between move up or down by one.
  public func move(from: Int, to: Int) {
    checkIndex(from, below: count)
    checkIndex(to, below: count)
    change(
      [], { $0.insert($0.remove(at: from), at: to) },
      { values, _ in values.insert(values.remove(at: from), at: to) })
  }

  /// Lets two elements change places.
  public func swapAt(_ first: Int, _ second: Int) {
    checkIndex(first, below: count)
    checkIndex(second, below: count)
    change([], { $0.swapAt(first, second) }, { values, _ in values.swapAt(first, second) })
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
    if let stored = Self.stored(of: elements) {
      return change(stored: stored) { values, added in values.replaceSubrange(range, with: added) }
    }
    let elements = Array(elements)
    change(
      elements, { $0.replaceSubrange(range, with: elements) },
      { values, added in values.replaceSubrange(range, with: added) })
  }

  /// Removes the elements at some places, which are those of before the first is removed.
  public func remove(atOffsets offsets: IndexSet) {
    check(offsets)
    change(
      [], { $0.remove(atOffsets: offsets) }, { values, _ in values.remove(atOffsets: offsets) })
  }

  /// Puts the elements at some places before the one that was at `destination`, or behind all; they keep their order.
  public func move(fromOffsets offsets: IndexSet, toOffset destination: Int) {
    check(offsets)
    checkIndex(destination, below: count + 1)
    change(
      [], { $0.move(fromOffsets: offsets, toOffset: destination) },
      { values, _ in values.move(fromOffsets: offsets, toOffset: destination) })
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
    return self.cell?.elements().firstIndex { SetElement($0) == value }
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
    cell?.elements() ?? asStored ?? unmanaged.map { $0._elementValue { _ in nil } }
  }
  var valueContent: ValueContent? { cell.map { ValueContent($0, .list) } }
}

extension List: MayHoldUnknown {
  func unknownElement(at index: Int) -> Value? {
    guard Element._mayBeUnknown, let value = (cell?.elements() ?? asStored)?[index] else { return nil }
    return Element._isUnknown(value) ? value : nil
  }

  /// All elements as they are stored, where the program has no value for one of them.
  var storedUnknown: [Value]? {
    guard Element._mayBeUnknown, let values = cell?.elements() ?? asStored,
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
        list.change(stored: [unknown], moves: false) { values, added in values += added }
      } else {
        return nil
      }
    }
    return list
  }
  public func _assign(_ other: List) {
    if self === other || (realm != nil && self == other) { return }
    if let values = other.storedUnknown {
      if cell == nil { asStored = values } else { cell?.changeElements(values, moves: true) { $0 = $1 } }
      return
    }
    let elements = Array(other)
    change(elements, { $0 = elements }, { values, added in values = added })
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
    (cell, unmanaged, asStored) = (_CollectionCell(owner, position: position), [], nil)
  }
}
