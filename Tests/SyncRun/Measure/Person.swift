import RealmServer
import RealmStorage
import RealmSync
import RealmTestSupport

/// The class of the objects that are written and sent. It is that of the benchmarks, with 104 bytes of content on
/// average.
struct Person {
  static let name = "Person"
  static let time: UInt64 = 1_800_000_000_000

  var id: Int64
  var name: String
  var email: String
  var age: Int64
  var score: Double
  var active: Bool
  var created: Int64
  var city: String
  var bio: String?

  private static let words = ["River", "Bada", "Kelo", "Wises", "Nind", "Zahore", "Tevast", "Gomi", "Pelar"]

  init(_ number: Int) {
    var random = SeededGenerator(seed: UInt64(number))
    func word() -> String { Self.words[random.below(Self.words.count)] }
    let (first, last) = (word(), word())
    id = Int64(number)
    name = "\(first) \(last)"
    email = "\(first).\(last).\(number)@ex.com"
    age = Int64(random.below(100))
    score = Double(random.below(1 << 50)) / Double(1 << 50) * 1000
    active = random.chance(50)
    created = 1_500_000_000 + Int64(random.below(200_000_000))
    city = Self.city(random.below(1000))
    if random.chance(50) { bio = (0..<10).map { _ in word() }.joined(separator: " ") }
  }

  static func city(_ number: Int) -> String { "City of \(number)" }

  static func make(_ transaction: WriteTransaction) throws -> WritableTable {
    try transaction.createTable(
      TableSchema(
        name, hasElementIDs: true,
        columns: [
          Column("id", .int64, index: .unique), Column("name", .string), Column("email", .string),
          Column("age", .int64), Column("score", .double), Column("active", .bool), Column("created", .date),
          Column("city", .string, index: .plain), Column("bio", .string, isOptional: true),
        ]))
  }

  func insert(into table: WritableTable) throws {
    try table.insert { (row: inout NewRow) throws(StorageError) in
      try row.set(0, id)
      try row.set(1, name)
      try row.set(2, email)
      try row.set(3, age)
      try row.set(4, score)
      try row.set(5, active)
      try row.set(6, Timestamp(seconds: created))
      try row.set(7, city)
      if let bio { try row.set(8, bio) }
    }
  }

  /// Inserts this number of objects in one durable commit. Returns the time in seconds, without the time for making the
  /// values.
  @discardableResult
  static func fill(_ database: Database, _ count: Int) throws -> Double {
    var making = 0.0
    let whole = try seconds {
      try database.write { transaction in
        let table = try make(transaction)
        for start in stride(from: 0, to: count, by: 1000) {
          var people: [Person] = []
          // This order is as good as random, because 7,919 and the counts have no common divisor.
          making += seconds { people = (start..<min(count, start + 1000)).map { Person($0 * 7919 % count) } }
          for person in people { try person.insert(into: table) }
        }
      }
    }
    return whole - making
  }

  /// Appends the values, one after another.
  func append(to bytes: inout [UInt8]) {
    for word in [
      UInt64(bitPattern: id), UInt64(bitPattern: age), score.bitPattern, UInt64(bitPattern: created),
    ] {
      for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
    bytes.append(active ? 1 : 0)
    for text in [name, email, city, bio ?? ""] {
      bytes.append(UInt8(text.utf8.count))
      bytes.append(contentsOf: text.utf8)
    }
  }

  static func changeset(_ keys: some Sequence<Int>, _ instructions: (Int) -> [Instruction]) -> Changeset {
    var changeset = Changeset()
    for key in keys {
      changeset.objects.append(ObjectInstructions(ObjectName(name, .int(Int64(key))), instructions(key)))
    }
    return changeset
  }
}

extension ServerState {
  /// The settings of the server of a measurement.
  static let measured = Settings(fields: [Person.name: ["city"]])

  /// Registers replica 7 with these filters as its query set.
  func register(_ transaction: WriteTransaction, _ filters: ClassFilters) throws {
    let registration = Registration(replica: 7, user: "u")
    try integrate(LogRecord(tag: 1, time: Person.time, .register(registration)), in: transaction)
    let set = LogEntry.querySet(replica: 7, number: 1, filters)
    try integrate(LogRecord(tag: 2, time: Person.time, set), in: transaction)
  }
}
