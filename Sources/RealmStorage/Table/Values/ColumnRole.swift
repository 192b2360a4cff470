/// What a column is for.
///
/// A column with another role than `property` is a companion: in it the engine stores, row by row, what belongs to the cells of
/// another column of the table. A companion has no name, so no program finds it by one. In all other respects it is an ordinary
/// column: it is stored, copied, compared, recorded and undone.
public enum ColumnRole: Sendable, Hashable {
  /// The column has the values of a property of the program.
  case property
  /// The column has, for each list of the column with that id, the ids of its elements in their order: whole numbers greater than
  /// 0.
  case elementIDs(of: UInt16)
  /// The column has, for each list of the column with that id, the ids of the places to which the elements were moved, with null
  /// for an element that was never moved. The list is empty if no element was moved.
  case elementPlaces(of: UInt16)
  /// The column has, for each cell of the column with that id, its links to rows that do not exist: see `AbsentLink`.
  case absentLinks(of: UInt16)

  /// The id of the column to which a companion belongs; nil for a property.
  public var owner: UInt16? {
    switch self {
    case .property: nil
    case .elementIDs(let owner), .elementPlaces(let owner), .absentLinks(let owner): owner
    }
  }
}

extension ColumnRole {
  /// Whether a value that fits the type of a companion's column, and is not null, is valid in it.
  func accepts(_ value: Value) -> Bool {
    guard case .int(let id) = value else { return true }
    return id > 0
  }
}

extension Column {
  /// Makes the companion with a role.
  init(_ role: ColumnRole) {
    switch role {
    case .property: preconditionFailure("a property is no companion")
    case .elementIDs: self.init("", .int64, collection: .list)
    case .elementPlaces: self.init("", .int64, isOptional: true, collection: .list)
    case .absentLinks: self.init("", .data, isOptional: true)
    }
    self.role = role
  }

  /// Whether the column is a companion: it belongs to another column, and has no values of the program.
  public var isCompanion: Bool { role != .property }

  /// Whether the name is valid for a column of its role.
  var hasUsualName: Bool {
    isCompanion ? name.isEmpty : (1...TableSchema.maximumNameLength).contains(name.utf8.count)
  }

  var holdsAbsentLinks: Bool { if case .absentLinks = role { true } else { false } }

  /// Whether most values of a list are greater by one than the value before.
  var holdsRuns: Bool {
    switch role {
    case .elementIDs, .elementPlaces: true
    case .property, .absentLinks: false
    }
  }

  /// Whether the column can be a companion of another one.
  func canGo(with owner: Column) -> Bool {
    guard !owner.isCompanion, owner.id == role.owner else { return false }
    var usual = Column(role)
    (usual.id, usual.isAbsentNull) = (id, isAbsentNull)
    guard self == usual, isAbsentNull == holdsAbsentLinks else { return false }
    return holdsAbsentLinks ? owner.canLink : owner.collection == .list
  }
}

extension TableSchema {
  /// The position of the column with a role; nil if there is none.
  func position(of role: ColumnRole) -> Int? { columns.firstIndex { $0.role == role } }

  /// Whether each companion stands after the column to which it belongs, and has a role that no other column has. A companion for
  /// places needs one for ids.
  var hasUsualCompanions: Bool {
    for (place, column) in columns.enumerated() where column.isCompanion {
      guard let owner = columns[..<place].first(where: { $0.id == column.role.owner }),
        column.canGo(with: owner), position(of: column.role) == place
      else { return false }
      if case .elementPlaces(let id) = column.role, position(of: .elementIDs(of: id)) == nil { return false }
    }
    return true
  }

  /// The name of a column in messages, also for a companion.
  func title(of column: Column) -> String {
    guard let owner = columns.first(where: { $0.id == column.role.owner })?.name else { return column.name }
    return switch column.role {
    case .property: column.name
    case .elementIDs: "\(owner) (ids of elements)"
    case .elementPlaces: "\(owner) (places of elements)"
    case .absentLinks: "\(owner) (links to rows that are not there)"
    }
  }

  /// The columns that the program gave the table, in the order in which they were added.
  public var properties: [Column] { columns.filter { !$0.isCompanion } }
}
