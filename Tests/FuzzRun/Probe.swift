import RealmStorage
import RealmTestSupport

/// Opens a changed file, reads all of it and checks it.
enum Probe {
  enum Outcome {
    case refused(StorageError)
    /// The file opens, but reading it throws an error.
    case unreadable(StorageError)
    /// The file opens and was read. The number is the fingerprint of its content.
    case content(UInt64)
  }

  static func look(at storage: any Storage, key: [UInt8]?) throws -> Outcome {
    let database: Database
    do throws(StorageError) {
      database = try Database(storage: storage, options: Sample.options(key))
    } catch {
      return .refused(error)
    }
    try lookAtNames(of: database)
    return try look(at: database.snapshot())
  }

  /// Reads the versions that are kept by name. If one can't be read, the integrity check must report it.
  private static func lookAtNames(of database: Database) throws {
    guard let names = try? database.namedVersions() else { return }
    for name in names {
      do {
        if let snapshot = try database.snapshot(named: name.name) {
          _ = try Content.fingerprint(of: snapshot)
        }
      } catch let error as StorageError {
        guard try NamedVersionCheck.run(database).findings.contains(where: { $0.name == name.name }) else {
          throw Violation("the check finds nothing in version \(name.name), but reading throws \(error)")
        }
      }
    }
  }

  /// Does the same with a file in a folder. Writes to it are not synced, which makes no difference here.
  static func look(atFile path: String, key: [UInt8]?) throws -> Outcome {
    let storage: FileStorage
    do throws(StorageError) {
      storage = try FileStorage(path: path, readOnly: false, calls: FaultyCalls())
    } catch {
      return .refused(error)
    }
    return try look(at: storage, key: key)
  }

  private static func look(at snapshot: Snapshot) throws -> Outcome {
    let outcome = try read(snapshot)
    let report = IntegrityCheck.run(snapshot)
    switch outcome {
    case .content:
      if let finding = report.findings.first {
        throw Violation("all can be read, but the check finds \(finding)")
      }
    case .unreadable(let error):
      if report.isClean { throw Violation("the check finds nothing, but reading throws \(error)") }
    case .refused: break
    }
    return outcome
  }

  private static func read(_ snapshot: Snapshot) throws -> Outcome {
    do {
      let fingerprint = try Content.fingerprint(of: snapshot)
      try useIndexes(snapshot)
      try ask(snapshot)
      return .content(fingerprint)
    } catch let error as StorageError {
      return .unreadable(error)
    }
  }

  /// Finds each row by all indexes and links.
  private static func useIndexes(_ snapshot: Snapshot) throws {
    for name in [TableModel.name, CompanionModel.name] {
      guard let table = try snapshot.table(name) else { continue }
      let columns = table.schema.columns
      try table.forEach { (key, values) throws(StorageError) in
        for (position, (column, value)) in zip(columns, values).enumerated() {
          if column.index != .none { _ = try table.rows(with: value, in: column) }
          guard column.type == .link || column.type == .mixed else { continue }
          _ = try table.sources(of: key, column: column, of: table.schema)
          for link in try table.absentLinks(ofColumn: position, ofRow: key)
          where link.table == table.schema.id {
            _ = try table.sources(ofAbsent: link.primaryKey)
          }
        }
        return true
      }
    }
  }

  /// Runs all kinds of conditions on each column.
  private static func ask(_ snapshot: Snapshot) throws {
    guard let table = try snapshot.table(TableModel.name) else { return }
    for (position, column) in table.schema.columns.enumerated() {
      for question in questions(column, position) { _ = try table.count(where: .not(question)) }
      if !column.isCollection { _ = try table.sorted(nil, by: [SortKey(ColumnPath(position))]) }
    }
  }

  /// Conditions of all kinds that are possible for a column.
  static func questions(_ column: Column, _ position: Int) -> [Predicate] {
    let path = ColumnPath(position)
    var questions: [Predicate] = [
      .compare(path, .notEqual, .null), .compare(path, .less, .int(5)),
      .isIn(path, [.double(1.5), .string("a"), .link(3)]),
    ]
    if column.type == .string || column.type == .data {
      questions.append(
        .text(path, .contains, column.type == .string ? .string("é") : .data([9]), options: .ignoringCase))
    }
    if column.isCollection { questions.append(.count(path, .greater, 1)) }
    if column.type == .link {
      questions.append(.compare(ColumnPath(links: [position], column: 0), .notEqual, .null))
    }
    return questions
  }
}
