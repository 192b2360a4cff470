/// Verifies the companions of a row's cells: a list with ids must have one id for each element and no id twice, and
/// links to rows that do not exist must fit their cells.
struct CompanionCheck {
  private struct Owner {
    var column: Column
    var ids: Column?
    var places: Column?
    var absentLinks: Column?
  }

  private let schema: TableSchema
  private let dictionaries: ColumnTrees
  private let owners: [Owner]

  /// A link to a row that does not exist, and the cell that has it.
  typealias Found = (link: AbsentLink, source: AbsentLinkIndex.Source)

  init(_ schema: TableSchema, _ root: TableRoot) {
    self.schema = schema
    dictionaries = root.dictionaries
    let companion = { (role: ColumnRole) in schema.position(of: role).map { schema.columns[$0] } }
    owners = schema.properties.compactMap { column in
      let owner = Owner(
        column: column, ids: companion(.elementIDs(of: column.id)),
        places: companion(.elementPlaces(of: column.id)),
        absentLinks: companion(.absentLinks(of: column.id)))
      return owner.ids == nil && owner.absentLinks == nil ? nil : owner
    }
  }

  var isNeeded: Bool { !owners.isEmpty }

  /// Verifies a row, and calls `body` with each of its links to a row that does not exist.
  ///
  /// - Throws: `.corrupted`.
  func check(
    _ row: Int, of cluster: borrowing ClusterNode, _ ref: Ref, _ access: borrowing NodeAccess,
    _ body: (Found) throws(StorageError) -> Void
  ) throws(StorageError) {
    for owner in owners {
      var links: [AbsentLink] = []
      if let column = owner.absentLinks {
        let value = try value(column, row, cluster, access)
        guard let found = AbsentLink.decode(value, in: owner.column) else {
          throw access.corrupted(.structure, ref).naming(.column(column, schema))
        }
        links = found
      }
      if !links.isEmpty || owner.ids != nil {
        let cell = try value(owner.column, row, cluster, access)
        guard areFitting(links, cell, owner), try hasIDs(cell, owner, links, row, cluster, access) else {
          throw access.corrupted(.structure, ref)
            .naming(.column(owner.ids ?? owner.absentLinks ?? owner.column, schema))
        }
      }
      let source = AbsentLinkIndex.Source(table: schema.id, column: owner.column.id, row: cluster.key(row))
      for link in links { try body((link, source)) }
    }
  }

  private func value(
    _ column: Column, _ row: Int, _ cluster: borrowing ClusterNode, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Value {
    do throws(StorageError) {
      return try TableReading.value(column, row, of: cluster, dictionaries.view, access)
    } catch {
      throw error.naming(.column(column, schema))
    }
  }

  private func areFitting(_ links: [AbsentLink], _ cell: Value, _ owner: Owner) -> Bool {
    links.allSatisfy { link in
      switch link.place {
      case .value: return cell == .null
      case .member: return true
      case .key(let key): if case .map(let map, _) = cell { return map[key] == nil } else { return false }
      case .before(let position):
        return position <= cell.elements?.count ?? 0 && (link.elementID != 0) == (owner.ids != nil)
          && (owner.ids != nil || link.elementPlace == 0)
      }
    }
  }

  private func hasIDs(
    _ cell: Value, _ owner: Owner, _ links: [AbsentLink], _ row: Int, _ cluster: borrowing ClusterNode,
    _ access: borrowing NodeAccess
  ) throws(StorageError) -> Bool {
    guard let column = owner.ids else { return true }
    let ids = try value(column, row, cluster, access).elements ?? []
    var places: [Value] = []
    if let column = owner.places { places = try value(column, row, cluster, access).elements ?? [] }
    guard ids.count == cell.elements?.count ?? 0, places.isEmpty || places.count == ids.count else {
      return false
    }
    return AbsentLink.haveOwnIDs(ids, places: places, links)
  }
}
