import RealmStorage

/// Values by keys in a property of an object, or links to objects, which it does not own unless they are embedded.
///
///     @Persisted var scores: Map<String, Int>
///     @Persisted var friends: Map<String, Person?>
///
/// Unmanaged it is a plain container. Managed it shows its object's row, and is changed in a write transaction only. Keys
/// are in the order of their UTF-8, unmanaged too. A key has no `.` and does not begin with `$`. Of an object that is deleted
/// the key stays, with nil.
public final class Map<Key: _MapKey, Value: RealmCollectionValue>: RealmKeyedCollection {
  /// Of an unmanaged map, by the bytes of the keys: equivalent texts may be two keys.
  private var unmanaged: [[UInt8]: SingleMapEntry<Key, Value>] = [:]
  /// Of an unmanaged map that is a copy of one which stores what the program has no values for: all of it, as it is stored.
  private var asStored: ValueMap?
  /// Of a managed one.
  private var cell: _CollectionCell?
  /// Calls `body` with the cell of a managed map; nil of an unmanaged one. What is noted in the cell as it is read is not kept where
  /// it is frozen, as other threads may read it.
  @inline(__always)
  private func withCell<Result>(_ body: (inout _CollectionCell) -> Result) -> Result? {
    guard cell?.isFrozen != true else {
      var copy = cell
      return copy == nil ? nil : body(&copy!)
    }
    return cell == nil ? nil : body(&cell!)
  }

  /// An empty unmanaged map.
  public init() {}

  init(_ cell: _CollectionCell) { self.cell = cell.found() }

  // MARK: - Reading

  public func _moved(to session: _RealmSession) -> Map? { cell?.moved(to: session.session).map { Map($0) } }

  /// The realm of a managed map; nil of an unmanaged one.
  public var realm: Realm? { cell?.realm }
  /// The object it belongs to was deleted, or its realm invalidated.
  public var isInvalidated: Bool { cell?.isInvalidated(.map) ?? false }
  /// The number of keys. O(1).
  public var count: Int {
    if cell?.isSorted == true { return withCell({ $0.sortedCount() }) ?? 0 }
    return stored?.count ?? unmanaged.count
  }

  /// As it is stored, where it is.
  private var stored: ValueMap? { withCell { $0.map() } ?? asStored }

  public var isEmpty: Bool { count == 0 }

  /// The keys, in the order of their UTF-8.
  public var keys: [Key] { stored?.keys.map { Key(_mapKey: $0) } ?? entries.map(\.key) }
  /// In the order of their keys.
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

  /// Walks the entries as they are when the walk begins, also where the loop changes the map. A walk over a managed map holds a
  /// few hundred entries in memory at a time.
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

  /// The entries as pairs.
  public struct KeyValueSequence: Sequence {
    fileprivate let map: Map<Key, Value>

    fileprivate init(_ map: Map<Key, Value>) { self.map = map }

    public func makeIterator() -> RLMKeyValueIterator<Key, Value> { RLMKeyValueIterator(map.makeIterator()) }
  }

  /// The entries as pairs of key and value.
  public func asKeyValueSequence() -> KeyValueSequence { KeyValueSequence(self) }

  /// What queries of the objects that the values link to read; nil of an unmanaged map, and of one of values.
  var objectContent: _CollectionContent? {
    guard let cell, let type = Value._elementType.target else { return nil }
    return _CollectionContent(
      cell.elementContext(as: type), .collection(cell.owner, position: cell.position))
  }

  // MARK: - Changing

  /// The value of a key; nil where there is none, and to remove the key.
  ///
  /// Where values may be nil, a nil that is a value is stored, as Swift's dictionaries store it; `nil` itself removes the key:
  ///
  ///     let unknown: Int? = nil
  ///     map["a"] = unknown  // "a" has the value nil
  ///     map["a"] = nil      // there is no "a"
  ///
  /// To store by a key with a `.`, or that begins with `$`, stops the program; `insert(_:forKey:)` throws for keys of data.
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

  /// Gives a key a value, in place of the one it has. A key with a `.`, or that begins with `$`, stops the program.
  public func updateValue(_ value: Value, forKey key: Key) { add([(key, value)]) }

  /// Gives a key a value, in place of the one it has, where the key comes from data and may be none that a map has.
  ///
  /// - Throws: `Realm.Error.invalidInput` where the key has a `.` or begins with `$`; then nothing is changed.
  public func insert(_ value: Value, forKey key: Key) throws {
    guard Self.isKey(key._mapKey) else { throw Realm.Error(.invalidInput, Self.reason(key._mapKey)) }
    updateValue(value, forKey: key)
  }

  /// Removes a key and its value; nothing where it is not there. A linked object stays; an embedded one is deleted.
  public func removeObject(for key: Key) {
    if let cell { return cell.remove(key._mapKey) }
    unmanaged[key.bytes] = nil
    asStored?[key._mapKey] = nil
  }

  /// Removes all keys with their values.
  public func removeAll() {
    (unmanaged, asStored) = ([:], nil)
    withCell { $0.replace(by: ValueMap()) }
  }

  /// Adds keys with their values; of a key that is there already `combine` makes one value of both.
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

  /// Adds the keys of another map with their values; of a key that is there already `combine` makes one value of both. What is stored
  /// and read as nil, since the program has no value for it, stays what it is where `combine` answers nil for it: of two such
  /// values this map's.
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

  /// The entries as the file holds them, or would hold them. The values are no links.
  var storedMap: ValueMap {
    stored ?? ValueMap(entries: entries.map { ($0.key._mapKey, $0.value._elementValue { _ in nil }) })
  }

  /// Adds values as they are stored, of which the program may have none of the map's type.
  private func add(stored entries: [(key: String, value: RealmStorage.Value)]) {
    if let cell { return cell.set(entries) }
    var known = storedMap
    (unmanaged, asStored) = ([:], nil)
    for (key, value) in entries { known[key] = value }
    asStored = known
  }

  /// Such keys could not be told from paths and operators, in other tools that speak of them.
  private static func check(_ key: String) {
    guard isKey(key) else {
      raise("Invalid key", reason(key) + " Where keys are data, insert(_:forKey:) throws instead.")
    }
  }

  private static func reason(_ key: String) -> String {
    "'\(key)' can't be a key of a map: a key has no '.' and does not begin with '$'."
  }

  /// By the bytes: to texts a point with an accent is no point.
  static func isKey(_ key: String) -> Bool {
    key.utf8.first != UInt8(ascii: "$") && !key.utf8.contains(UInt8(ascii: "."))
  }

  public var description: String { ObjectDescription.text(of: self) }

  /// Of unmanaged maps. Those of values of any type may stand in each other.
  private func holdsSame(as other: Map) -> Bool {
    if self === other { return true }
    if Value._canLink { Stack.check("maps that stand in each other are compared") }
    guard asStored != nil || other.asStored != nil else { return unmanaged == other.unmanaged }
    return _stored { _ in nil } == other._stored { _ in nil }
  }

  /// Whether both are one map of one object, or unmanaged and hold the same.
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

/// A map, whatever its types.
protocol EntriesOfMap {
  /// Equivalent texts may be two keys.
  var anyEntries: [(key: String, value: Any)] { get }
}

extension Map: EntriesOfMap {
  var anyEntries: [(key: String, value: Any)] {
    guard Value._mayBeUnknown, let map = stored else { return entries.map { ($0.key._mapKey, $0.value) } }
    return zip(map.keys, map.values).map {
      ($0, Value._isUnknown($1) ? UnknownElement(value: $1) : element($1, at: $0))
    }
  }

  /// All of it as it is stored, where the program has no value for some.
  fileprivate var storedUnknown: ValueMap? {
    guard Value._mayBeUnknown, let map = stored, map.values.contains(where: { Value._isUnknown($0) }) else {
      return nil
    }
    return map
  }
}

/// What a map is made of, as values given as `Any`.
struct AnyEntries: EntriesOfMap {
  let anyEntries: [(key: String, value: Any)]
}

extension _MapKey {
  fileprivate var bytes: [UInt8] { Array(_mapKey.utf8) }
}

extension Map: ExpressibleByDictionaryLiteral {
  /// An unmanaged map of these entries; of a key that is there twice the last value counts.
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
    // What a value of the program's own type is stored as: where there is none, one as it is made.
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
