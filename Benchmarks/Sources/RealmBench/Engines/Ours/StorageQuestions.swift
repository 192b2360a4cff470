import RealmStorage

extension StorageEngine: Questions {
  func countAll() throws -> Int { try Self.people(in: database.snapshot()).count }

  func countActive(olderThan age: Int64) throws -> Int {
    try count(
      where: .and([
        .compare(ColumnPath(Position.age), .greater, .int(age)),
        .compare(ColumnPath(Position.active), .equal, .bool(true)),
      ]))
  }

  func count(email: String) throws -> Int {
    try count(where: .compare(ColumnPath(Position.email), .equal, .string(email)))
  }

  func count(nameContaining part: String, ignoringCase: Bool) throws -> Int {
    try count(
      where: .text(
        ColumnPath(Position.name), .contains, .string(part), options: ignoringCase ? .ignoringCase : []))
  }

  func count(ids: [Int64]) throws -> Int {
    try count(where: .isIn(ColumnPath(Position.id), ids.map { .int($0) }))
  }

  func count(ages: [Int64]) throws -> Int {
    try count(where: .isIn(ColumnPath(Position.age), ages.map { .int($0) }))
  }

  private func count(where predicate: Predicate) throws -> Int {
    try Self.people(in: database.snapshot()).count(where: predicate)
  }

  func firstByAgeAndName(asksForAll: Bool) throws -> Answer {
    let table = try Self.people(in: database.snapshot())
    let keys = [SortKey(ColumnPath(Position.age)), SortKey(ColumnPath(Position.name))]
    let rows =
      asksForAll
      ? try table.sorted(nil, by: keys) : try table.sorted(nil, by: keys, limit: FirstByAgeAndName.count)
    var first = FirstByAgeAndName()
    for row in rows.prefix(FirstByAgeAndName.count) {
      guard case .value(let age) = try table.integer(Position.age, ofRow: row),
        case .value(let name) = try table.text(Position.name, ofRow: row)
      else { throw BenchmarkError("no Person in row \(row)") }
      first.add(age: age, name)
    }
    return first.answer
  }

  func firstActive() throws -> Int64? {
    let table = try Self.people(in: database.snapshot())
    let plan = RowPlan(
      table: table.schema.id, predicate: .compare(ColumnPath(Position.active), .equal, .bool(true)))
    guard let row = try RowSearch(plan, in: table).first(),
      case .value(let id) = try table.integer(Position.id, ofRow: row)
    else { throw BenchmarkError("nobody is active") }
    return id
  }

  func firstByCity() throws -> Answer? {
    let table = try Self.people(in: database.snapshot())
    let plan = RowPlan(
      table: table.schema.id, steps: [.sort([SortKey(ColumnPath(Position.city))]), .limit(100)])
    var answer = Answer()
    for row in try RowSearch(plan, in: table).rows() {
      guard case .value(let city) = try table.text(Position.city, ofRow: row) else {
        throw BenchmarkError("no Person in row \(row)")
      }
      answer.add(city)
    }
    return answer
  }

  func sumAndAverage() throws -> (scores: Double, age: Double) {
    let table = try Self.people(in: database.snapshot())
    guard case .double(let sum) = try table.sum(Position.score, of: nil),
      case .double(let average) = try table.average(Position.age, of: nil)
    else { throw BenchmarkError("no scores to add up") }
    return (sum, average)
  }

  func raiseScores() throws {
    try database.write(.full) { transaction in
      _ = try Self.people(in: transaction).changeDoubles(Position.score) { $0 + 1 }
    }
  }

  func deleteInactive() throws {
    try database.write(.full) { transaction in
      let table = try Self.people(in: transaction)
      let rows = try table.reading().rows(
        where: .compare(ColumnPath(Position.active), .equal, .bool(false)))
      try table.remove(rows)
    }
  }
}
