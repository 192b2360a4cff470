/// What keys of a `Map` are.
public protocol _MapKey: Hashable {
  var _mapKey: String { get }
  init(_mapKey: String)
}

extension String: _MapKey {
  public var _mapKey: String { self }
  public init(_mapKey: String) { self = _mapKey }
}

/// A collection of a realm whose values are found by keys.
public protocol RealmKeyedCollection: Sequence, CustomStringConvertible, ThreadConfined {
  /// What values are found by.
  associatedtype Key: _MapKey
  /// What is found by a key.
  associatedtype Value: RealmCollectionValue

  /// The realm of a managed collection.
  var realm: Realm? { get }
  /// What it belongs to was deleted, or its realm invalidated.
  var isInvalidated: Bool { get }
  /// The number of entries.
  var count: Int { get }
  /// Gives a key a value, in place of the one it has.
  func updateValue(_ value: Value, forKey key: Key)
  /// Removes a key and its value; nothing where it is not there.
  func removeObject(for key: Key)
  /// Removes all entries; from a managed collection in a write transaction only.
  func removeAll()
  /// The value of a key; nil where there is none, and to remove the key. A nil that is a value is stored.
  subscript(key: Key) -> Value? { get set }
  /// All keys, in the order of their UTF-8 bytes. Takes time in proportion to the entries.
  var keys: [Key] { get }
  /// All values, in the order of their keys. Takes time in proportion to the entries.
  var values: [Value] { get }
  /// The entries, to read by people.
  var description: String { get }
}

/// A key of a map with its value.
public protocol _RealmMapValue {
  associatedtype Key: _MapKey
  associatedtype Value: RealmCollectionValue
  var key: Key { get set }
  var value: Value { get set }
  init(key: Key, value: Value)
}

/// A key of a map with its value, as the map is walked.
public struct SingleMapEntry<Key: _MapKey, Value: RealmCollectionValue>: _RealmMapValue, Hashable {
  /// What the value is found by.
  public var key: Key
  /// What is found by the key. Setting it changes this entry, and not the map.
  public var value: Value

  /// An entry by itself, which changes no map.
  public init(key: Key, value: Value) {
    self.key = key
    self.value = value
  }

  public static func == (left: SingleMapEntry, right: SingleMapEntry) -> Bool {
    // Equivalent texts may be two keys.
    left.key._mapKey.utf8.elementsEqual(right.key._mapKey.utf8)
      && ElementIdentity.areEqual(left.value, right.value)
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(Array(key._mapKey.utf8))
    ElementIdentity.hash(value, into: &hasher)
  }
}

/// A place in a map.
public struct MapIndex: Hashable, Comparable, Sendable {
  /// How many entries come before it.
  public let offset: UInt

  public static func < (left: MapIndex, right: MapIndex) -> Bool { left.offset < right.offset }
}

/// Walks the entries that a map had when the walk began.
public struct RLMMapIterator<Element: _RealmMapValue>: IteratorProtocol {
  private var entries: IndexingIterator<[Element]>
  /// Reads entries from a position on, as many as stand together; none behind the last.
  private let chunks: ((Int) -> [Element])?
  /// So many entries were read.
  private var end: Int

  /// - Parameters:
  ///   - first: the first entries, and all where there are no chunks.
  ///   - chunks: answers entries from a position on, and none behind the last.
  init(first: [Element], chunks: ((Int) -> [Element])? = nil) {
    (entries, end, self.chunks) = (first.makeIterator(), first.count, chunks)
  }

  public mutating func next() -> Element? {
    if let entry = entries.next() { return entry }
    guard let chunks else { return nil }
    let read = chunks(end)
    end += read.count
    entries = read.makeIterator()
    return entries.next()
  }
}

/// Walks the keys and values that a map had when the walk began.
public struct RLMKeyValueIterator<Key: _MapKey, Value: RealmCollectionValue>: IteratorProtocol {
  /// A key with its value.
  public typealias Element = (key: Key, value: Value)
  private var entries: RLMMapIterator<SingleMapEntry<Key, Value>>

  init(_ entries: RLMMapIterator<SingleMapEntry<Key, Value>>) { self.entries = entries }

  public mutating func next() -> Element? { entries.next().map { ($0.key, $0.value) } }
}
