/// Where a list or map stands that is a part of a mixed value: the cell of a row, and the id of the list or map.
///
/// The id finds it wherever it stands in the cell, so a place stays right when the elements around the list or map are moved.
public struct NestedPlace: Sendable, Hashable {
  /// The position of the column in the schema.
  public var column: Int
  /// The key of the row.
  public var row: UInt64
  /// `Value.nestedID` of the list or map.
  public var id: UInt64
  /// The element of the cell's own list or map in which it stands. A position need not be right: it is looked for there first, then around
  /// it, and then everywhere. A key must be right: the value of a key never gets another key.
  public var near: Step?

  /// An element of a list by its position, or of a map by its key.
  public enum Step: Sendable, Hashable {
    case position(Int)
    case key(String)

    // Equivalent texts may be two keys.
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

  public init(column: Int, row: UInt64, id: UInt64, near: Step? = nil) {
    self.column = column
    self.row = row
    self.id = id
    self.near = near
  }
}

extension Value {
  /// The positions that lead to the list or map of an id, in lists and in maps in the order of their keys; nil where it is not in
  /// this value. Takes time in proportion to what stands before it.
  func nestedPath(to id: UInt64) -> [Int]? {
    guard isNested else { return nil }
    if nestedID == id { return [] }
    for (place, element) in (elements ?? []).enumerated() where element.isNested {
      if let rest = element.nestedPath(to: id) { return [place] + rest }
    }
    return nil
  }

  /// Calls `body` with the id of each list and map of which the value consists, and with the positions that lead to it.
  func forEachNested(_ path: [Int] = [], _ body: (_ id: UInt64, _ path: [Int]) -> Void) {
    guard isNested else { return }
    body(nestedID, path)
    for (place, element) in (elements ?? []).enumerated() where element.isNested {
      element.forEachNested(path + [place], body)
    }
  }

  /// What stands at the end of a path; nil where it leads nowhere.
  func nested(at path: some Sequence<Int>) -> Value? {
    var found = self
    for place in path {
      guard let elements = found.elements, elements.indices.contains(place) else { return nil }
      found = elements[place]
    }
    return found
  }

  /// Changes what stands at the end of a path, without a copy of what is around it.
  ///
  /// - Precondition: the path leads to a value.
  mutating func change<Result>(at path: ArraySlice<Int>, _ body: (inout Value) -> Result) -> Result {
    guard let place = path.first else { return body(&self) }
    switch self {
    case .list(var elements, let id):
      // No other reference is left to what is changed.
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
  /// The positions of a list where it is looked for first: from where it stood last outwards.
  func positionsToLook(in count: Int) -> [Int] {
    guard case .position(let near)? = near, count > 0 else { return [] }
    let first = min(max(near, 0), count - 1)
    return (0..<64).map { $0 % 2 == 0 ? first - $0 / 2 : first + ($0 + 1) / 2 }.filter {
      (0..<count).contains($0)
    }
  }
}

/// The ids that a process gave to the lists and maps that stand in mixed values, by table.
///
/// It outlives transactions: a handle of a list that a cancelled transaction made must not find another list, so an id is not
/// given again though the file does not know it.
final class GivenNestedIDs {
  private var tables: [UInt32: NestedIDs] = [:]

  func ids(ofTable id: UInt32) -> NestedIDs {
    if let ids = tables[id] { return ids }
    let ids = NestedIDs(1)
    tables[id] = ids
    return ids
  }
}

/// Gives ids to the lists and maps that stand in mixed values of a table.
final class NestedIDs {
  /// The next one. It never goes back.
  @exclusivity(unchecked) private(set) var next: UInt64

  /// One above the greatest id that the open transaction kept (`keeping`). The process may have given greater ones in transactions that were
  /// cancelled, so `next` does not tell what the table's node must name.
  @exclusivity(unchecked) private(set) var kept: UInt64 = 0
  /// What is stored keeps the ids it has: see `keeping`.
  @exclusivity(unchecked) private var keeps = false

  init(_ next: UInt64) { self.next = next }

  /// Another transaction begins.
  func forgetKept() { kept = 0 }

  /// An id will be kept: none that is given from now on is the same.
  func keep(_ id: UInt64) {
    kept = max(kept, id + 1)
    follow(id + 1)
  }

  /// Calls `body`, in which lists and maps that have ids keep them: they were recorded as they stood in the table.
  func keeping<Result>(_ body: () throws(StorageError) -> Result) throws(StorageError) -> Result {
    keeps = true
    defer { keeps = false }
    return try body()
  }

  /// The table's node names the next id.
  func follow(_ stored: UInt64) { next = max(next, stored) }

  /// The same value; each list and map that it consists of has a new id.
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

  /// The same value as one of a column: in a column of mixed values each list and map in it has a new id.
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
