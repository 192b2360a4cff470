/// A row of a table that another links to.
struct LinkTarget: Hashable {
  var table: UInt32
  var row: UInt64
}

/// Values that have parts: collections, and what mixed columns hold.
extension Value {
  /// The elements of a list or set, the values of a map; nil of one value.
  public var elements: [Value]? {
    switch self {
    case .list(let elements, _): elements
    case .map(let map, _): map.values
    default: nil
    }
  }

  /// The id of a list or map that stands in a mixed value; 0 of all else.
  public var nestedID: UInt64 {
    switch self {
    case .list(_, let id), .map(_, let id): id
    default: 0
    }
  }

  /// A list or a map.
  var isNested: Bool { elements != nil }

  /// What a column of sets holds of some values: each once, in the order of their values.
  ///
  /// Numbers are one element where they are equal, whatever their type, and so are all NaN. Else elements are one where they
  /// are the same. Of those that are one the first stays.
  public static func set(_ values: some Sequence<Value>) -> Value {
    var elements: [Value] = []
    // The sort keeps the order of what is equal.
    for value in values.sorted(by: isBefore) where elements.last.map({ isBefore($0, value) }) ?? true {
      elements.append(value)
    }
    return .list(elements)
  }

  /// Whether an element of a set comes before another.
  public static func isBefore(_ left: Value, _ right: Value) -> Bool { ValueOrder.sort(left, right) < 0 }

  /// So deep may lists and maps stand in each other in a mixed column.
  public static let mostLevels = 100

  /// Whether a mixed column may hold it. Null is left to who asks.
  ///
  /// - Parameter levels: so many lists and maps may stand in each other.
  public func isMixed(levels: Int = mostLevels) -> Bool {
    switch self {
    case .link: false
    case .list, .map:
      levels > 0 && (elements ?? []).allSatisfy { $0.isMixed(levels: levels - 1) }
    default: true
    }
  }

  // MARK: - Links

  /// The rows it points to as a value of a column, one as often as it does.
  func linkTargets(of column: Column) -> [LinkTarget] {
    switch self {
    case .link(let row): [LinkTarget(table: column.target, row: row)]
    case .typedLink(let table, let row): [LinkTarget(table: table, row: row)]
    case .list, .map: (elements ?? []).flatMap { $0.linkTargets(of: column) }
    default: []
    }
  }

  /// The same as a value of a column, without links to some rows: an element of lists and sets of links goes, any other
  /// becomes null.
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
  /// The bytes by which a column of varying size stores this value; nil for null.
  func varyingBytes(of column: Column) -> [UInt8]? {
    if column.storage == .composite { return CompositeCell.encode(self, of: column) }
    return switch self {
    case .string(let text): Array(text.utf8)
    case .data(let data): data
    default: nil
    }
  }
}
