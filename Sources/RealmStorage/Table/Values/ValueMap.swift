/// Values by keys, in the order of the keys' UTF-8 bytes.
public struct ValueMap: Sendable, Hashable {
  /// The keys, in ascending order. No two are equal.
  public private(set) var keys: [String] = []
  /// The values, in the order of their keys.
  public private(set) var values: [Value] = []

  /// Makes an empty map.
  public init() {}

  /// Makes a map of the entries of a dictionary. Takes O(n log n).
  public init(_ values: [String: Value]) { self.init(entries: values.map { ($0.key, $0.value) }) }

  /// Makes a map of entries in any order. If a key stands twice, its last value is kept. Takes O(n log n).
  public init(entries: [(key: String, value: Value)]) {
    // The sort keeps the order of equal keys.
    for (key, value) in entries.sorted(by: { Self.isLess($0.key, $1.key) }) {
      if let last = keys.last, !Self.isLess(last, key) {
        values[values.count - 1] = value
      } else {
        keys.append(key)
        values.append(value)
      }
    }
  }

  /// Makes a map of sorted keys and their values; nil if the keys are not in ascending order.
  init?(ascending keys: [String], _ values: [Value]) {
    guard keys.count == values.count, zip(keys, keys.dropFirst()).allSatisfy(Self.isLess) else { return nil }
    self.keys = keys
    self.values = values
  }

  /// The number of entries.
  public var count: Int { keys.count }
  /// Whether there are no entries.
  public var isEmpty: Bool { keys.isEmpty }

  /// The value for a key; nil if there is none. Setting nil removes the key. Reading and replacing take O(log n), adding and
  /// removing a key take O(n).
  public subscript(key: String) -> Value? {
    get {
      let (place, isThere) = place(of: key)
      return isThere ? values[place] : nil
    }
    set {
      let (place, isThere) = place(of: key)
      switch (newValue, isThere) {
      case (let value?, true): values[place] = value
      case (let value?, false):
        keys.insert(key, at: place)
        values.insert(value, at: place)
      case (nil, true):
        keys.remove(at: place)
        values.remove(at: place)
      case (nil, false): break
      }
    }
  }

  /// A map with the same keys and changed values. `change` returns the new value for each old one.
  public func mapped<Failure: Error>(_ change: (Value) throws(Failure) -> Value) throws(Failure) -> ValueMap {
    var mapped = self
    for place in values.indices { mapped.values[place] = try change(values[place]) }
    return mapped
  }

  /// Changes the value at a position in place.
  mutating func change<Result>(at place: Int, _ body: (inout Value) -> Result) -> Result {
    body(&values[place])
  }

  /// The position of a key, or the one that it would have.
  func place(of key: String) -> (Int, isThere: Bool) {
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if Self.isLess(keys[middle], key) { low = middle + 1 } else { high = middle }
    }
    return (low, low < keys.count && keys[low].utf8.elementsEqual(key.utf8))
  }

  private static func isLess(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  // Keys are compared by their bytes: equivalent texts with other bytes are different keys.
  public static func == (left: ValueMap, right: ValueMap) -> Bool {
    left.keys.count == right.keys.count && left.values == right.values
      && zip(left.keys, right.keys).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(keys.count)
    for key in keys { for byte in key.utf8 { hasher.combine(byte) } }
    hasher.combine(values)
  }
}
