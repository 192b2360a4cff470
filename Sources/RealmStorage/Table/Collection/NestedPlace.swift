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
  /// The element of the cell's own list or map in which it stood last: it is looked for there first, and then everywhere. It need not
  /// be right.
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

/// Gives ids to the lists and maps that stand in mixed values of a table.
final class NestedIDs {
  /// The next one.
  @exclusivity(unchecked) var next: UInt64

  init(_ next: UInt64) { self.next = next }

  /// The same value; each list and map that it consists of has a new id.
  func identify(_ value: Value) -> Value {
    switch value {
    case .list(let elements, _):
      let id = take()
      return .list(elements.map(identify), id: id)
    case .map(let map, _):
      let id = take()
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

  private func take() -> UInt64 {
    defer { next += 1 }
    return next
  }
}
