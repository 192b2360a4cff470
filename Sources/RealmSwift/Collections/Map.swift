import RealmStorage

/// Values by keys, in a property of an object. The values may be links to objects. A map does not own linked objects, except
/// embedded ones.
///
///     @Persisted var scores: Map<String, Int>
///     @Persisted var friends: Map<String, Person?>
///
/// An unmanaged map is a plain container. A managed map shows the row of its object: it always holds what the realm holds
/// now. Entries are in the order of the UTF-8 bytes of their keys, in unmanaged maps too. A key contains no `.` and does not
/// begin with `$`. If a linked object is deleted, its key stays, with the value nil.
///
/// A change of a managed map outside of a write transaction stops the program. An object that is not in a realm is added to
/// the map's realm when it is put into a managed map. An object of another realm stops the program.
public final class Map<Key: _MapKey, Value: RealmCollectionValue>: RealmKeyedCollection {
  /// The entries of an unmanaged map, by the bytes of their keys, because texts that are canonically equivalent may be two
  /// keys.
  private var unmanaged: [[UInt8]: SingleMapEntry<Key, Value>] = [:]
  /// The entries of an unmanaged map in stored form, if it is a copy of a map that stores values for which the program has
  /// none.
  private var asStored: ValueMap?
  /// The cell of a managed map.
  private var cell: _CollectionCell?
  /// Calls `body` with the cell of a managed map. The answer is nil if the map is unmanaged. What reading notes in the cell
  /// is not kept if the cell is frozen, because other threads may read it.
  @inline(__always)
  private func withCell<Result>(_ body: (inout _CollectionCell) -> Result) -> Result? {
    guard cell?.isFrozen != true else {
      var copy = cell
      return copy == nil ? nil : body(&copy!)
    }
    return cell == nil ? nil : body(&cell!)
  }

  /// Makes an empty unmanaged map.
  public init() {}

  init(_ cell: _CollectionCell) { self.cell = cell.found() }

  // MARK: - Reading

  /// The same map in another session; nil if its object is not there, or the map is unmanaged.
  public func _moved(to session: _RealmSession) -> Map? { cell?.moved(to: session.session).map { Map($0) } }

  /// The realm of a managed map; nil if the map is unmanaged.
  public var realm: Realm? { cell?.realm }
  /// Whether the object that has the map was deleted, or its realm was invalidated. The value is false for an unmanaged map.
  public var isInvalidated: Bool { cell?.isInvalidated(.map) ?? false }
  /// The number of entries. O(1).
  public var count: Int {
    if cell?.isSorted == true { return withCell({ $0.sortedCount() }) ?? 0 }
    return stored?.count ?? unmanaged.count
  }

  /// The entries in stored form; nil for a map that does not keep them so.
  private var stored: ValueMap? { withCell { $0.map() } ?? asStored }

  /// Whether there are no entries. O(1).
  public var isEmpty: Bool { count == 0 }

  /// All keys, in the order of their UTF-8 bytes. O(n), and O(n log n) if the map is unmanaged.
  public var keys: [Key] { stored?.keys.map { Key(_mapKey: $0) } ?? entries.map(\.key) }
  /// All values, in the order of their keys. O(n), and O(n log n) if the map is unmanaged.
  public var values: [Value] { entries.map(\.value) }

  private var entries: [SingleMapEntry<Key, Value>] {
    guard let map = stored else {
      return unmanaged.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.value)
    }
    return zip(map.keys, map.values).map {
      SingleMapEntry(key: Key(_mapKey: $0), value: element($1, at: $0))
    }
  }

  private func element(_ value: RealmStorage.Value, at key: String) -> Value {
    guard let cell else { return Value._unmanagedElement(value) }
    return Value._element(value, in: cell, at: .key(key))
  }

  /// Makes an iterator over the entries that the map has now. The loop may change the map without an effect on the iteration.
  /// An iteration over a managed map holds a few hundred entries in memory at a time.
  public func makeIterator() -> RLMMapIterator<SingleMapEntry<Key, Value>> {
    guard let walk = withCell({ $0.walk() }), let cell = cell?.walking(since: walk.generation) else {
      return RLMMapIterator(first: entries)
    }
    func read(_ start: Int) -> [SingleMapEntry<Key, Value>] {
      walk.entries(from: start).map { key, value in
        SingleMapEntry(key: Key(_mapKey: key), value: Value._element(value, in: cell, at: .key(key)))
      }
    }
    let first = read(0)
    return first.count == walk.count
      ? RLMMapIterator(first: first) : RLMMapIterator(first: first) { read($0) }
  }

  /// The entries of a map as pairs of key and value.
  public struct KeyValueSequence: Sequence {
    fileprivate let map: Map<Key, Value>

    fileprivate init(_ map: Map<Key, Value>) { self.map = map }

    /// Makes an iterator over the pairs that the map has now.
    public func makeIterator() -> RLMKeyValueIterator<Key, Value> { RLMKeyValueIterator(map.makeIterator()) }
  }

  /// The entries as pairs of key and value, in the order of the keys.
  public func asKeyValueSequence() -> KeyValueSequence { KeyValueSequence(self) }

  /// The content that queries of the linked objects read; nil if the map is unmanaged or its values are not objects.
  var objectContent: _CollectionContent? {
    guard let cell, let type = Value._elementType.target else { return nil }
    return _CollectionContent(
      cell.elementContext(as: type), .collection(cell.owner, position: cell.position))
  }

  // MARK: - Changing

  /// The value of a key; nil if the key is not there. Setting nil removes the key.
  ///
  /// If values may be nil, a nil value is stored, as in Swift's dictionaries. The literal `nil` removes the key:
  ///
  ///     let unknown: Int? = nil
  ///     map["a"] = unknown  // "a" has the value nil
  ///     map["a"] = nil      // there is no "a"
  ///
  /// Setting a value for a key that contains a `.` or begins with `$` stops the program. If keys come from data, use
  /// `insert(_:forKey:)`, which throws instead.
  public subscript(key: Key) -> Value? {
    get {
      if cell != nil {
        return (withCell({ $0.value(forKey: key._mapKey) }) ?? nil).map { element($0, at: key._mapKey) }
      }
      guard let map = asStored else { return unmanaged[key.bytes]?.value }
      return map[key._mapKey].map { element($0, at: key._mapKey) }
    }
    set {
      guard let newValue else { return removeObject(for: key) }
      updateValue(newValue, forKey: key)
    }
  }

  /// Sets the value of a key, whether or not the key has one. A key that contains a `.` or begins with `$` stops the program.
  public func updateValue(_ value: Value, forKey key: Key) { add([(key, value)]) }

  /// Sets the value of a key, whether or not the key has one. Use it if the key comes from data and may be invalid.
  ///
  /// - Throws: `Realm.Error.invalidInput` if the key contains a `.` or begins with `$`. The map is then unchanged.
  public func insert(_ value: Value, forKey key: Key) throws {
    guard Self.isKey(key._mapKey) else { throw Realm.Error(.invalidInput, Self.reason(key._mapKey)) }
    updateValue(value, forKey: key)
  }

  /// Removes a key and its value. It has no effect if the key is not there. A linked object stays in the realm; an embedded
  /// object is deleted.
  public func removeObject(for key: Key) {
    if let cell { return cell.remove(key._mapKey) }
    unmanaged[key.bytes] = nil
    asStored?[key._mapKey] = nil
  }

  /// Removes all entries. Linked objects stay in the realm; embedded objects are deleted.
  public func removeAll() {
    (unmanaged, asStored) = ([:], nil)
    withCell { $0.replace(by: ValueMap()) }
  }

  /// Adds entries. If a key is there already, `combine` makes its new value from the old and the added one.
  ///
  /// - Parameters:
  ///   - sequence: pairs of key and value. A key that contains a `.` or begins with `$` stops the program.
  ///   - combine: makes one value from the old value and the added one.
  /// - Throws: what `combine` throws. Entries that were added before stay.
  public func merge<S: Sequence>(
    _ sequence: S, uniquingKeysWith combine: (Value, Value) throws -> Value
  ) rethrows where S.Element == (key: Key, value: Value) {
    if Value._mayBeUnknown, let entries = sequence as? KeyValueSequence {
      return try merge(entries.map, uniquingKeysWith: combine)
    }
    for (key, value) in sequence {
      updateValue(try self[key].map { try combine($0, value) } ?? value, forKey: key)
    }
  }

  /// Adds the entries of another map. If a key is there already, `combine` makes its new value from the old and the added
  /// one.
  ///
  /// A stored value for which the program has none reads as nil. If `combine` answers nil for such a value, the stored value
  /// is kept; if both values are of this kind, the value of this map is kept.
  ///
  /// - Parameters:
  ///   - other: the map whose entries are added.
  ///   - combine: makes one value from the old value and the added one.
  /// - Throws: what `combine` throws. Entries that were added before stay.
  public func merge(
    _ other: Map<Key, Value>, uniquingKeysWith combine: (Value, Value) throws -> Value
  ) rethrows {
    guard let theirs = other.storedUnknown ?? (storedUnknown == nil ? nil : other.storedMap) else {
      return try merge(other.entries.map { ($0.key, $0.value) }, uniquingKeysWith: combine)
    }
    for (key, value) in zip(theirs.keys, theirs.values) {
      guard let own = stored?[key] ?? unmanaged[Key(_mapKey: key).bytes]?.value._elementValue({ _ in nil })
      else {
        add(stored: [(key, value)])
        continue
      }
      let made = try combine(element(own, at: key), other.element(value, at: key))
        ._elementValue { _ in nil }
      let kept = [own, value].first { Value._isUnknown($0) }
      add(stored: [(key, made == .null ? kept ?? made : made)])
    }
  }

  private func add(_ entries: [(key: Key, value: Value)]) {
    for (key, _) in entries { Self.check(key._mapKey) }
    guard let values = cell?.stored(entries.map(\.value)) else {
      if Value._canLink { FreedInTurn.note(self) }
      for (key, value) in entries {
        if asStored == nil { unmanaged[key.bytes] = SingleMapEntry(key: key, value: value) }
        asStored?[key._mapKey] = value._elementValue { _ in nil }
      }
      return
    }
    cell?.set(zip(entries, values).map { ($0.key._mapKey, $1) })
  }

  /// The entries in stored form. The values must not be links.
  var storedMap: ValueMap {
    stored ?? ValueMap(entries: entries.map { ($0.key._mapKey, $0.value._elementValue { _ in nil }) })
  }

  /// Adds stored values. The program may have no value for some of them.
  private func add(stored entries: [(key: String, value: RealmStorage.Value)]) {
    if let cell { return cell.set(entries) }
    var known = storedMap
    (unmanaged, asStored) = ([:], nil)
    for (key, value) in entries { known[key] = value }
    asStored = known
  }

  /// Stops the program if a text can't be a key. Other tools could not tell such a key from a path or an operator.
  private static func check(_ key: String) {
    guard isKey(key) else {
      raise("Invalid key", reason(key) + " Where keys are data, insert(_:forKey:) throws instead.")
    }
  }

  private static func reason(_ key: String) -> String {
    "'\(key)' can't be a key of a map: a key has no '.' and does not begin with '$'."
  }

  /// Whether a text can be a key. The bytes are compared because a point with an accent is one character, which differs from
  /// a point.
  static func isKey(_ key: String) -> Bool {
    key.utf8.first != UInt8(ascii: "$") && !key.utf8.contains(UInt8(ascii: "."))
  }

  /// A text for people that shows the entries, 100 at most.
  public var description: String { ObjectDescription.text(of: self) }

  /// Whether two unmanaged maps hold equal entries. Maps of values of any type may contain other maps.
  private func holdsSame(as other: Map) -> Bool {
    if self === other { return true }
    if Value._canLink { Stack.check("maps that stand in each other are compared") }
    guard asStored != nil || other.asStored != nil else { return unmanaged == other.unmanaged }
    return _stored { _ in nil } == other._stored { _ in nil }
  }

  /// Whether both are the same map of the same object, or both are unmanaged and hold equal entries.
  public static func == (left: Map, right: Map) -> Bool {
    switch (left.cell, right.cell) {
    case (nil, nil): left.holdsSame(as: right)
    case (let left?, let right?): left.isSame(as: right)
    default: false
    }
  }
}

extension Map: Equatable {}

extension Map: ValueCollection {
  var storedValues: [RealmStorage.Value] {
    stored?.values ?? entries.map { $0.value._elementValue { _ in nil } }
  }
  var valueContent: ValueContent? { cell.map { ValueContent($0, .map) } }
}

extension Map: DescribedCollection {
  func describe(in text: inout ObjectDescription, depth: Int) {
    text.add(entries: anyEntries, named: "\(Self.self)", depth)
  }
}

/// A map of any types.
protocol EntriesOfMap {
  /// The entries as pairs. It is not a dictionary, because texts that are canonically equivalent may be two keys.
  var anyEntries: [(key: String, value: Any)] { get }
}

extension Map: EntriesOfMap {
  var anyEntries: [(key: String, value: Any)] {
    guard Value._mayBeUnknown, let map = stored else { return entries.map { ($0.key._mapKey, $0.value) } }
    return zip(map.keys, map.values).map {
      ($0, Value._isUnknown($1) ? UnknownElement(value: $1) : element($1, at: $0))
    }
  }

  /// All entries in stored form if the program has no value for one of them; nil otherwise.
  fileprivate var storedUnknown: ValueMap? {
    guard Value._mayBeUnknown, let map = stored, map.values.contains(where: { Value._isUnknown($0) }) else {
      return nil
    }
    return map
  }
}

/// The entries of which a map is made. Each value is given as `Any`.
struct AnyEntries: EntriesOfMap {
  let anyEntries: [(key: String, value: Any)]
}

extension _MapKey {
  fileprivate var bytes: [UInt8] { Array(_mapKey.utf8) }
}

extension Map: ExpressibleByDictionaryLiteral {
  /// Makes an unmanaged map of the entries of a dictionary literal. If a key is there twice, its last value counts.
  public convenience init(dictionaryLiteral elements: (Key, Value)...) {
    self.init()
    add(elements.map { (key: $0, value: $1) })
  }
}

@available(*, unavailable)
extension Map: Sendable {}

extension Map: _KeptInstance {
  public typealias PersistedType = Map

  public static var _type: _PropertyType {
    var type = Value._elementType
    type.form = .map
    // A custom type is stored as an embedded object. If none is stored, reading makes a value of a new one.
    if type.target is EmbeddedObject.Type, !(Value.self is ObjectBase.Type) { type.isOptional = true }
    return type
  }
  public static func _converted(_ any: Any) -> Map? {
    if let map = instance(any, of: Map.self) { return map }
    let map = Map()
    if isNull(any) { return map }
    guard let entries = (any as? AnyEntries)?.anyEntries ?? (any as? [String: Any])?.map({ ($0, $1) }) else {
      return nil
    }
    for (key, any) in entries {
      let any = (any as? UnknownElement)?.value.plain ?? any
      if let value = Value._convertedElement(any) {
        map.updateValue(value, forKey: Key(_mapKey: key))
      } else if Value._elementType.isOptional, let unknown = Value._unknown(of: any) {
        check(key)
        map.add(stored: [(key, unknown)])
      } else {
        return nil
      }
    }
    return map
  }
  public func _assign(_ other: Map) {
    if self === other || (realm != nil && self == other) { return }
    if let map = other.storedUnknown {
      if cell == nil { asStored = map } else { withCell({ $0.replace(by: map) }) }
      return
    }
    asStored = nil
    if Value._canLink, cell == nil { FreedInTurn.note(self) }
    let entries = other.entries
    guard let values = cell?.stored(entries.map(\.value)) else {
      unmanaged = other.unmanaged
      if other.stored != nil { for entry in entries { unmanaged[entry.key.bytes] = entry } }
      return
    }
    withCell { $0.replace(by: ValueMap(entries: Array(zip(entries.map(\.key._mapKey), values)))) }
  }

  public func _stored(_ row: _RowOfObject) -> RealmStorage.Value {
    if let asStored { return .map(asStored) }
    return .map(ValueMap(entries: entries.map { ($0.key._mapKey, $0.value._elementValue(row)) }))
  }
  public var _linked: [ObjectBase] {
    Value._canLink && cell == nil ? unmanaged.values.flatMap(\.value._elementLinks) : []
  }
  public func _becomeManaged(_ object: ObjectBase, _ position: Int) {
    guard let owner = object.managedRow else { return }
    (cell, unmanaged, asStored) = (_CollectionCell(owner, position: position).found(), [:], nil)
  }
}
