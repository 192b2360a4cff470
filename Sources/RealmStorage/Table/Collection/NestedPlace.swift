/// The place of a list or map that is part of a mixed value: the cell of a row, and the id of the list or map.
///
/// The id finds the list or map anywhere in the cell, so a place stays valid when the elements around it are moved.
public struct NestedPlace: Sendable, Hashable {
  /// The position of the column in the schema.
  public var column: Int
  /// The key of the row.
  public var row: UInt64
  /// `Value.nestedID` of the list or map.
  public var id: UInt64
  /// Where to look first: the element of the cell's own list or map that has the list or map in it; nil if that is not known. A
  /// position need not be right: the search begins there and goes on around it, and then everywhere. A key must be right: the
  /// value of a key never moves to another key.
  public var near: Step?

  /// An element of a list by its position, or of a map by its key.
  public enum Step: Sendable, Hashable {
    /// The element at a position of a list.
    case position(Int)
    /// The value for a key of a map.
    case key(String)

    // Keys are compared by their bytes: equivalent texts may be different keys.
    public static func == (left: Step, right: Step) -> Bool {
      switch (left, right) {
      case (.position(let left), .position(let right)): left == right
      case (.key(let left), .key(let right)): left.utf8.elementsEqual(right.utf8)
      default: false
      }
    }

    public func hash(into hasher: inout Hasher) {
      switch self {
      case .position(let position): hasher.combine(position)
      case .key(let key): hasher.combine(Array(key.utf8))
      }
    }
  }

  /// Makes a place.
  public init(column: Int, row: UInt64, id: UInt64, near: Step? = nil) {
    self.column = column
    self.row = row
    self.id = id
    self.near = near
  }
}

extension Value {
  /// The positions that lead to the list or map with an id, in maps those in the order of the keys; nil if the value does not
  /// have it. Takes time in proportion to what stands before it.
  func nestedPath(to id: UInt64) -> [Int]? {
    guard isNested else { return nil }
    if nestedID == id { return [] }
    for (place, element) in (elements ?? []).enumerated() where element.isNested {
      if let rest = element.nestedPath(to: id) { return [place] + rest }
    }
    return nil
  }

  /// Calls `body` with the id of each list and map in the value, and with the positions that lead to it.
  func forEachNested(_ path: [Int] = [], _ body: (_ id: UInt64, _ path: [Int]) -> Void) {
    guard isNested else { return }
    body(nestedID, path)
    for (place, element) in (elements ?? []).enumerated() where element.isNested {
      element.forEachNested(path + [place], body)
    }
  }

  /// The value at the end of a path; nil if the path leads nowhere.
  func nested(at path: some Sequence<Int>) -> Value? {
    var found = self
    for place in path {
      guard let elements = found.elements, elements.indices.contains(place) else { return nil }
      found = elements[place]
    }
    return found
  }

  /// Changes the value at the end of a path, without copying the values around it.
  ///
  /// - Precondition: the path leads to a value.
  mutating func change<Result>(at path: ArraySlice<Int>, _ body: (inout Value) -> Result) -> Result {
    guard let place = path.first else { return body(&self) }
    switch self {
    case .list(var elements, let id):
      // This releases the only other reference to the elements, so that they are changed in place.
      self = .null
      defer { self = .list(elements, id: id) }
      return elements[place].change(at: path.dropFirst(), body)
    case .map(var map, let id):
      self = .null
      defer { self = .map(map, id: id) }
      return map.change(at: place) { $0.change(at: path.dropFirst(), body) }
    default: preconditionFailure("a path leads into a value without elements")
    }
  }
}

extension NestedPlace {
  /// The positions of a list to look at first: from the last known one outwards.
  func positionsToLook(in count: Int) -> [Int] {
    guard case .position(let near)? = near, count > 0 else { return [] }
    let first = min(max(near, 0), count - 1)
    return (0..<64).map { $0 % 2 == 0 ? first - $0 / 2 : first + ($0 + 1) / 2 }.filter {
      (0..<count).contains($0)
    }
  }
}

/// The ids that this process has given to lists and maps of mixed values, by table.
///
/// It lives longer than transactions: a handle of a list that a cancelled transaction made must not find another list. So an id
/// is not given again, even if the file does not know it.
final class GivenNestedIDs {
  private var tables: [UInt32: NestedIDs] = [:]

  func ids(ofTable id: UInt32) -> NestedIDs {
    if let ids = tables[id] { return ids }
    let ids = NestedIDs(1)
    tables[id] = ids
    return ids
  }
}

/// Gives ids to the lists and maps of a table's mixed values.
final class NestedIDs {
  /// The next id. It never decreases.
  @exclusivity(unchecked) private(set) var next: UInt64

  /// The greatest id that the open transaction has kept (`keeping`), plus one. The process may have given greater ids in
  /// cancelled transactions, so `next` does not say what the table's node has to name.
  @exclusivity(unchecked) private(set) var kept: UInt64 = 0
  /// Whether stored values keep their ids: see `keeping`.
  @exclusivity(unchecked) private var keeps = false

  init(_ next: UInt64) { self.next = next }

  /// Resets `kept` for a new transaction.
  func forgetKept() { kept = 0 }

  /// Notes that an id is kept: no later one is the same.
  func keep(_ id: UInt64) {
    kept = max(kept, id + 1)
    follow(id + 1)
  }

  /// Calls `body`. While it runs, lists and maps that have ids keep them, because they were recorded with them.
  func keeping<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
    keeps = true
    defer { keeps = false }
    return try body()
  }

  /// Makes the next id at least the one that the table's node names.
  func follow(_ stored: UInt64) { next = max(next, stored) }

  /// The value with new ids for each list and map in it.
  func identify(_ value: Value) -> Value {
    switch value {
    case .list(let elements, let old):
      let id = take(old)
      return .list(elements.map(identify), id: id)
    case .map(let map, let old):
      let id = take(old)
      return .map(map.mapped(identify), id: id)
    default: return value
    }
  }

  /// The value with new ids for the lists and maps in it, if it is one of a column of mixed values.
  func identify(_ value: Value, of column: Column) -> Value {
    guard column.type == .mixed, let elements = value.elements else { return value }
    guard column.isCollection else { return identify(value) }
    guard elements.contains(where: { $0.isNested }) else { return value }
    switch value {
    case .list(let elements, _): return .list(elements.map(identify))
    case .map(let map, _): return .map(map.mapped(identify))
    default: return value
    }
  }

  private func take(_ old: UInt64) -> UInt64 {
    if keeps, old != 0 {
      keep(old)
      return old
    }
    defer { next += 1 }
    return next
  }
}
