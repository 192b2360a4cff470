import RealmStorage

/// The storage engine of this project, through its public API.
final class StorageEngine: Engine {
  let database: Database
  private let key: [UInt8]?
  private var pinned: Snapshot?
  private var durability = Durability.full

  init(folder: String, isEncrypted: Bool) throws {
    key = isEncrypted ? (0..<64).map { UInt8($0) } : nil
    database = try Database(path: folder + "/people.realm", options: .init(encryptionKey: key))
  }

  private static let table = "Person"

  /// The positions of the columns in the schema.
  enum Position {
    static let id = 0
    static let name = 1
    static let email = 2
    static let age = 3
    static let score = 4
    static let active = 5
    static let created = 6
    static let city = 7
    static let bio = 8
  }

  private static let schema = TableSchema(
    table,
    columns: [
      Column("id", .int64, index: .unique), Column("name", .string), Column("email", .string),
      Column("age", .int64), Column("score", .double), Column("active", .bool), Column("created", .date),
      Column("city", .string, index: .plain), Column("bio", .string, isOptional: true),
    ])

  // MARK: - Writing

  func insertAll(_ source: inout PersonSource) throws { try insertAll(&source, recorder: nil) }

  func insertAll(_ source: inout PersonSource, recorder: (any ChangeRecorder)?) throws {
    try database.write { transaction in
      if let recorder { try transaction.record(into: recorder) }
      let table = try transaction.createTable(Self.schema)
      while let people = source.next() {
        for person in people { try Self.insert(person, into: table) }
      }
    }
  }

  static func insert(_ person: Person, into table: WritableTable) throws {
    try table.insert { (row: inout NewRow) throws(StorageError) in
      try row.set(Position.id, person.id)
      try row.set(Position.name, person.name)
      try row.set(Position.email, person.email)
      try row.set(Position.age, person.age)
      try row.set(Position.score, person.score)
      try row.set(Position.active, person.active)
      try row.set(Position.created, Timestamp(seconds: person.created))
      try row.set(Position.city, person.city)
      if let bio = person.bio { try row.set(Position.bio, bio) }
    }
  }

  var hasRelaxedCommits: Bool { true }

  var promise: Promise {
    get { durability == .full ? .durable : .relaxed }
    set { durability = newValue == .durable ? .full : .relaxed }
  }

  func prepareSmallCommits() {}

  func setScores(_ changes: ArraySlice<ScoreChange>) throws {
    try database.write(durability) { transaction in
      let table = try Self.people(in: transaction)
      // The rows are found in the table before the change. This works because a change of scores moves no row.
      let before = try table.reading()
      var rows: [UInt64] = []
      rows.reserveCapacity(changes.count)
      for change in changes { rows.append(try Self.row(of: change.id, in: before)) }
      for (row, change) in zip(rows, changes) { try table.set(.double(change.score), "score", ofRow: row) }
    }
  }

  /// Each thread commits by itself. The engine lets the threads of a process share a sync.
  func commitFromThreads(_ changes: [[ScoreChange]]) throws -> Committers.Times {
    let engine = Committers.Shared(value: self)
    return try Committers.run(changes) { { try engine.value.setScores([$0][...]) } }
  }

  func timeToFind(_ change: ScoreChange) throws -> Double? {
    let before = try database.snapshot()
    try setScores([change][...])
    let after = try database.snapshot()
    var changes = TableChanges()
    let seconds = try Measure.seconds { changes = try after.changes(inTable: Self.table, since: before) }
    guard changes.modifications.count == 1, changes.modifications[0].columns == [Position.score] else {
      throw BenchmarkError("one score was changed, and \(changes.modifications) was found")
    }
    return seconds
  }

  func insert(_ person: Person) throws { try insert(person, recorder: nil) }

  func insert(_ person: Person, recorder: (any ChangeRecorder)?) throws {
    try database.write(durability) { transaction in
      if let recorder { try transaction.record(into: recorder) }
      try Self.insert(person, into: Self.people(in: transaction))
    }
  }

  static func people(in transaction: WriteTransaction) throws -> WritableTable {
    guard let table = try transaction.table(table) else {
      throw BenchmarkError("there is no table of Persons")
    }
    return table
  }

  // MARK: - Reading

  static func people(in snapshot: Snapshot) throws -> Table {
    guard let table = try snapshot.table(table) else { throw BenchmarkError("there is no table of Persons") }
    return table
  }

  static func row(of id: Int64, in table: Table) throws -> UInt64 {
    guard let row = try table.row(withPrimaryKey: .int(id)) else { throw BenchmarkError("no Person \(id)") }
    return row
  }

  func lookUp(_ ids: [Int64]) throws -> Answer {
    let table = try Self.people(in: database.snapshot())
    var answer = Answer()
    for id in ids {
      let found: Void? = try table.withRow(primaryKey: id) { (group, row) throws(StorageError) in
        try group.texts(Position.name, from: row).bytes(row).withUnsafeBytes { answer.add($0) }
        answer.add(try group.integers(Position.age)[row])
      }
      guard found != nil else { throw BenchmarkError("no Person \(id)") }
    }
    return answer
  }

  func lookUpTogether(_ ids: [Int64]) throws -> Answer? {
    let table = try Self.people(in: database.snapshot())
    var (answer, found) = (Answer(), 0)
    try table.forEachRow(withPrimaryKeys: ids) { (_, group, row) throws(StorageError) in
      try group.texts(Position.name, from: row).bytes(row).withUnsafeBytes { answer.add($0) }
      answer.add(try group.integers(Position.age)[row])
      found += 1
    }
    guard found == ids.count else { throw BenchmarkError("\(ids.count - found) Persons are not there") }
    return answer
  }

  func iterate() throws -> Answer {
    var answer = Answer()
    try Self.people(in: database.snapshot()).forEachGroup { (group) throws(StorageError) in
      let ages = try group.integers(Position.age)
      let scores = try group.doubles(Position.score)
      // The sum is in a local variable, so that it stays in a register like in the loops of the other engines.
      var sum = Answer()
      var row = 0
      while row < group.count {
        let names = try group.texts(Position.name, from: row)
        while row < names.rows.upperBound {
          try names.bytes(row).withUnsafeBytes { sum.add($0) }
          sum.add(ages[row])
          sum.add(scores[row])
          row += 1
        }
      }
      answer.add(sum)
      return true
    }
    return answer
  }

  func iterateStrings() throws -> Answer? {
    var answer = Answer()
    try Self.people(in: database.snapshot()).forEachGroup { (group) throws(StorageError) in
      let ages = try group.integers(Position.age)
      let scores = try group.doubles(Position.score)
      var sum = Answer()
      var row = 0
      while row < group.count {
        let names = try group.texts(Position.name, from: row)
        while row < names.rows.upperBound {
          sum.add(try names.bytes(row).withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
          sum.add(ages[row])
          sum.add(scores[row])
          row += 1
        }
      }
      answer.add(sum)
      return true
    }
    return answer
  }

  func count(age: Int64) throws -> Int {
    try Self.people(in: database.snapshot()).count(Position.age, in: age...age)
  }

  func count(cities: [String]) throws -> Int {
    let table = try Self.people(in: database.snapshot())
    let city = table.schema.columns[Position.city]
    return try cities.reduce(0) { try $0 + table.count(with: .string($1), in: city) }
  }

  func readEverything() throws -> Answer {
    var answer = Answer()
    try Self.people(in: database.snapshot()).forEach { (_, values) throws(StorageError) in
      var hash = RowHash()
      for value in values {
        switch value {
        case .int(let number): hash.add(number)
        case .double(let number): hash.add(number)
        case .bool(let flag): hash.add(Int64(flag ? 1 : 0))
        case .date(let date): hash.add(date.seconds)
        case .string(let text): hash.add(text)
        default: hash.addNull()
        }
      }
      answer.add(hash)
      return true
    }
    return answer
  }

  // MARK: - A pinned reader

  func pin() throws { pinned = try database.snapshot() }
  func unpin() { pinned = nil }

  func readPinned() throws -> Answer {
    guard let pinned else { throw BenchmarkError("no reader is pinned") }
    var answer = Answer()
    try Self.people(in: pinned).forEach { (_, values) throws(StorageError) in
      if case .double(let score) = values[Position.score] { answer.add(score) }
      return true
    }
    return answer
  }

  // MARK: - The file

  var written: WrittenBytes? { WrittenBytes(database.writeStatistics) }

  func compacted(at path: String) throws -> Bool {
    try database.snapshot().copy(to: path, encryptionKey: key)
    return true
  }

  func close() { database.close() }
}

extension WrittenBytes {
  init(_ statistics: WriteStatistics) {
    self.init(
      nodes: statistics.nodeBytes - statistics.movedBytes, moved: statistics.movedBytes,
      meta: statistics.metaBytes, growth: statistics.growthBytes)
  }
}
