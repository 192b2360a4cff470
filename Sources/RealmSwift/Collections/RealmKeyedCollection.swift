/// A type that keys of a `Map` can have.
public protocol _MapKey: Hashable {
  /// The key as a text.
  var _mapKey: String { get }
  /// Makes the key of a text.
  init(_mapKey: String)
}

extension String: _MapKey {
  /// The text itself.
  public var _mapKey: String { self }
  /// Takes the text as it is.
  public init(_mapKey: String) { self = _mapKey }
}

/// A collection of a realm whose values are found by keys.
public protocol RealmKeyedCollection: Sequence, CustomStringConvertible, ThreadConfined {
  /// The type of the keys.
  associatedtype Key: _MapKey
  /// The type of the values.
  associatedtype Value: RealmCollectionValue

  /// The realm of a managed collection; nil if the collection is unmanaged.
  var realm: Realm? { get }
  /// Whether the object that has the collection was deleted, or its realm was invalidated.
  var isInvalidated: Bool { get }
  /// The number of entries.
  var count: Int { get }
  /// Sets the value of a key, whether or not the key has one.
  func updateValue(_ value: Value, forKey key: Key)
  /// Removes a key and its value. It has no effect if the key is not there.
  func removeObject(for key: Key)
  /// Removes all entries. A managed collection needs a write transaction.
  func removeAll()
  /// The value of a key; nil if the key is not there. Setting nil removes the key. If values may be nil, a nil value is
  /// stored.
  subscript(key: Key) -> Value? { get set }
  /// All keys, in the order of their UTF-8 bytes. O(n).
  var keys: [Key] { get }
  /// All values, in the order of their keys. O(n).
  var values: [Value] { get }
  /// A text for people that shows the entries.
  var description: String { get }
}

/// An entry of a map: a key and its value.
public protocol _RealmMapValue {
  /// The type of the key.
  associatedtype Key: _MapKey
  /// The type of the value.
  associatedtype Value: RealmCollectionValue
  /// The key.
  var key: Key { get set }
  /// The value.
  var value: Value { get set }
  /// Makes an entry.
  init(key: Key, value: Value)
}

/// An entry of a map as an iteration answers it.
public struct SingleMapEntry<Key: _MapKey, Value: RealmCollectionValue>: _RealmMapValue, Hashable {
  /// The key.
  public var key: Key
  /// The value. Setting it changes this entry only, not the map.
  public var value: Value

  /// Makes an entry that belongs to no map.
  public init(key: Key, value: Value) {
    self.key = key
    self.value = value
  }

  /// Whether the keys have the same bytes and the values are equal.
  public static func == (left: SingleMapEntry, right: SingleMapEntry) -> Bool {
    // Texts that are canonically equivalent may be two keys.
    left.key._mapKey.utf8.elementsEqual(right.key._mapKey.utf8)
      && ElementIdentity.areEqual(left.value, right.value)
  }

  /// Adds the bytes of the key and the value to the hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(Array(key._mapKey.utf8))
    ElementIdentity.hash(value, into: &hasher)
  }
}

/// A position in a map.
public struct MapIndex: Hashable, Comparable, Sendable {
  /// The number of entries before it.
  public let offset: UInt

  /// Whether the left position comes before the right one.
  public static func < (left: MapIndex, right: MapIndex) -> Bool { left.offset < right.offset }
}

/// An iterator over the entries that a map had when the iteration began.
public struct RLMMapIterator<Element: _RealmMapValue>: IteratorProtocol {
  private var entries: IndexingIterator<[Element]>
  /// Reads a chunk of entries that begins at a position. The chunk is empty behind the last entry.
  private let chunks: ((Int) -> [Element])?
  /// The number of entries that were read so far.
  private var end: Int

  /// Makes an iterator.
  ///
  /// - Parameters:
  ///   - first: the first entries; they are all entries if `chunks` is nil.
  ///   - chunks: reads the entries that begin at a position. It answers an empty array behind the last entry.
  init(first: [Element], chunks: ((Int) -> [Element])? = nil) {
    (entries, end, self.chunks) = (first.makeIterator(), first.count, chunks)
  }

  /// The next entry; nil behind the last one.
  public mutating func next() -> Element? {
    if let entry = entries.next() { return entry }
    guard let chunks else { return nil }
    let read = chunks(end)
    end += read.count
    entries = read.makeIterator()
    return entries.next()
  }
}

/// An iterator over the pairs of key and value that a map had when the iteration began.
public struct RLMKeyValueIterator<Key: _MapKey, Value: RealmCollectionValue>: IteratorProtocol {
  /// A key and its value.
  public typealias Element = (key: Key, value: Value)
  private var entries: RLMMapIterator<SingleMapEntry<Key, Value>>

  init(_ entries: RLMMapIterator<SingleMapEntry<Key, Value>>) { self.entries = entries }

  /// The next pair; nil behind the last one.
  public mutating func next() -> Element? { entries.next().map { ($0.key, $0.value) } }
}
