/// Values by keys, in the order of the keys' UTF-8.
public struct ValueMap: Sendable, Hashable {
  /// Ascending, and all different.
  public private(set) var keys: [String] = []
  /// As many, in the order of their keys.
  public private(set) var values: [Value] = []

  public init() {}

  /// Takes O(n log n).
  public init(_ values: [String: Value]) { self.init(entries: values.map { ($0.key, $0.value) }) }

  /// Of a key that is given twice the last value stays. Takes O(n log n).
  public init(entries: [(key: String, value: Value)]) {
    // The sort keeps the order of what is equal.
    for (key, value) in entries.sorted(by: { Self.isLess($0.key, $1.key) }) {
      if let last = keys.last, !Self.isLess(last, key) {
        values[values.count - 1] = value
      } else {
        keys.append(key)
        values.append(value)
      }
    }
  }

  /// Nil where keys do not ascend.
  init?(ascending keys: [String], _ values: [Value]) {
    guard keys.count == values.count, zip(keys, keys.dropFirst()).allSatisfy(Self.isLess) else { return nil }
    self.keys = keys
    self.values = values
  }

  public var count: Int { keys.count }
  public var isEmpty: Bool { keys.isEmpty }

  /// The value of a key; nil where there is none, and to remove it. To find one takes O(log n), to add or remove one O(n).
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

  /// The same keys with other values, one for each.
  public func mapped<Failure: Error>(_ change: (Value) throws(Failure) -> Value) throws(Failure) -> ValueMap {
    var mapped = self
    for place in values.indices { mapped.values[place] = try change(values[place]) }
    return mapped
  }

  /// Changes the value at a place where it is.
  mutating func change<Result>(at place: Int, _ body: (inout Value) -> Result) -> Result {
    body(&values[place])
  }

  /// Where a key is, or would be.
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

  // Keys differ where their bytes do, also where the texts are equivalent.
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
