/// What a column is for.
///
/// A column of another role than `property` is a companion: the engine keeps in it, row by row, what belongs to the cells of another column of the table. A
/// companion has no name, so no program finds it by one. It is a column in all else: it is stored, copied, compared, recorded and undone as one.
public enum ColumnRole: Sendable, Hashable {
  /// The values of a property of the program's.
  case property
  /// For each list of the column of that id the ids of its elements, in their order: whole numbers greater than 0.
  case elementIDs(of: UInt16)
  /// For each list of the column of that id the places to which elements were moved: null for an element that was never moved. The list is empty where no
  /// element was moved.
  case elementPlaces(of: UInt16)
  /// For each cell of the column of that id its links to rows that are not there: see `AbsentLink`.
  case absentLinks(of: UInt16)

  /// The id of the column that a companion goes with; nil of a property.
  public var owner: UInt16? {
    switch self {
    case .property: nil
    case .elementIDs(let owner), .elementPlaces(let owner), .absentLinks(let owner): owner
    }
  }
}

extension ColumnRole {
  /// Whether a value that fits the type of a companion's column, and is not null, may stand in it.
  func accepts(_ value: Value) -> Bool {
    guard case .int(let id) = value else { return true }
    return id > 0
  }
}

extension Column {
  /// The companion of a role.
  init(_ role: ColumnRole) {
    switch role {
    case .property: preconditionFailure("a property is no companion")
    case .elementIDs: self.init("", .int64, collection: .list)
    case .elementPlaces: self.init("", .int64, isOptional: true, collection: .list)
    case .absentLinks: self.init("", .data, isOptional: true)
    }
    self.role = role
  }

  /// Whether the column goes with another one and holds nothing of the program's own.
  public var isCompanion: Bool { role != .property }

  /// Whether the name is one that a column of its role may have.
  var hasUsualName: Bool {
    isCompanion ? name.isEmpty : (1...TableSchema.maximumNameLength).contains(name.utf8.count)
  }

  var holdsAbsentLinks: Bool { if case .absentLinks = role { true } else { false } }

  /// Whole numbers of which most are greater by one than the one before.
  var holdsRuns: Bool {
    switch role {
    case .elementIDs, .elementPlaces: true
    case .property, .absentLinks: false
    }
  }

  /// Whether the column may be the companion of another one.
  func canGo(with owner: Column) -> Bool {
    guard !owner.isCompanion, owner.id == role.owner else { return false }
    var usual = Column(role)
    (usual.id, usual.isAbsentNull) = (id, isAbsentNull)
    guard self == usual, isAbsentNull == holdsAbsentLinks else { return false }
    return holdsAbsentLinks ? owner.canLink : owner.collection == .list
  }
}

extension TableSchema {
  /// The position of the column of a role; nil where there is none.
  func position(of role: ColumnRole) -> Int? { columns.firstIndex { $0.role == role } }

  /// Whether each companion goes with a column that stands before it, and has a role that no other has. Places need ids.
  var hasUsualCompanions: Bool {
    for (place, column) in columns.enumerated() where column.isCompanion {
      guard let owner = columns[..<place].first(where: { $0.id == column.role.owner }),
        column.canGo(with: owner), position(of: column.role) == place
      else { return false }
      if case .elementPlaces(let id) = column.role, position(of: .elementIDs(of: id)) == nil { return false }
    }
    return true
  }

  /// What to call a column, also a companion.
  func title(of column: Column) -> String {
    guard let owner = columns.first(where: { $0.id == column.role.owner })?.name else { return column.name }
    return switch column.role {
    case .property: column.name
    case .elementIDs: "\(owner) (ids of elements)"
    case .elementPlaces: "\(owner) (places of elements)"
    case .absentLinks: "\(owner) (links to rows that are not there)"
    }
  }

  /// The columns that a program gave the table, in the order they were added.
  public var properties: [Column] { columns.filter { !$0.isCompanion } }
}
