/// A row to which another row links.
struct LinkTarget: Hashable {
  var table: UInt32
  var row: UInt64
}

/// Values with parts: collections, and the lists and maps of mixed values.
extension Value {
  /// The elements of a list or set, or the values of a map in the order of the keys; nil for a single value.
  public var elements: [Value]? {
    switch self {
    case .list(let elements, _): elements
    case .map(let map, _): map.values
    default: nil
    }
  }

  /// The id of a list or map that is part of a mixed value; 0 for all other values.
  public var nestedID: UInt64 {
    switch self {
    case .list(_, let id), .map(_, let id): id
    default: 0
    }
  }

  /// Whether the value is a list or a map.
  var isNested: Bool { elements != nil }

  /// The value of a set with some elements: each one once, in the order of sets.
  ///
  /// Numbers are the same element if they are equal, whatever their types, and all NaN are the same element. Other values are the
  /// same element if they are equal. The first of several is kept. Takes O(n log n).
  public static func set(_ values: some Sequence<Value>) -> Value {
    var elements: [Value] = []
    // The sort keeps the order of equal elements.
    for value in values.sorted(by: isBefore) where elements.last.map({ isBefore($0, value) }) ?? true {
      elements.append(value)
    }
    return .list(elements)
  }

  /// Whether an element comes before another one in a set.
  public static func isBefore(_ left: Value, _ right: Value) -> Bool { ValueOrder.sort(left, right) < 0 }

  /// The deepest nesting of lists and maps in a mixed value.
  public static let mostLevels = 100

  /// Whether the value can be stored in a mixed column. Null returns true.
  ///
  /// - Parameter levels: the allowed number of nested levels of lists and maps.
  public func isMixed(levels: Int = mostLevels) -> Bool {
    switch self {
    case .link: false
    case .list, .map:
      levels > 0 && (elements ?? []).allSatisfy { $0.isMixed(levels: levels - 1) }
    default: true
    }
  }

  // MARK: - Links

  /// The rows to which the value links if it stands in a column, each one as often as it is linked.
  func linkTargets(of column: Column) -> [LinkTarget] {
    switch self {
    case .link(let row): [LinkTarget(table: column.target, row: row)]
    case .typedLink(let table, let row): [LinkTarget(table: table, row: row)]
    case .list, .map: (elements ?? []).flatMap { $0.linkTargets(of: column) }
    default: []
    }
  }

  /// The value without links to some rows, as it stands in a column: elements of lists and sets of links are removed, and other
  /// links become null.
  func unlinked(_ targets: Set<LinkTarget>, of column: Column) -> Value {
    switch self {
    case .link(let row): targets.contains(LinkTarget(table: column.target, row: row)) ? .null : self
    case .typedLink(let table, let row): targets.contains(LinkTarget(table: table, row: row)) ? .null : self
    case .list(let elements, let id):
      if column.type == .link || column.collection == .set {
        .list(elements.filter { $0.unlinked(targets, of: column) == $0 })
      } else {
        .list(elements.map { $0.unlinked(targets, of: column) }, id: id)
      }
    case .map(let map, let id): .map(map.mapped { $0.unlinked(targets, of: column) }, id: id)
    default: self
    }
  }
}

extension Value {
  /// The bytes with which a column of varying size stores this value; nil for null.
  func varyingBytes(of column: Column) -> [UInt8]? {
    if column.storage == .composite { return CompositeCell.encode(self, of: column) }
    return switch self {
    case .string(let text): Array(text.utf8)
    case .data(let data): data
    default: nil
    }
  }
}
