import RealmStorage

/// Lists in this project's storage engine.
final class StorageLists: ListFile {
  private let lists: Lists
  private let database: Database
  private var durability = Durability.full

  private static let owners = "Owner"
  private static let items = "Item"

  /// The positions of the owners' columns in the schema.
  private enum Position {
    static let number = 0
    static let name = 1
    static let elements = 2
  }

  init(_ lists: Lists, folder: String, isEncrypted: Bool) throws {
    self.lists = lists
    let key = isEncrypted ? (0..<64).map { UInt8($0) } : nil
    database = try Database(path: folder + "/lists.realm", options: .init(encryptionKey: key))
  }

  // MARK: - Filling

  func fill() throws {
    try database.write { transaction in
      let table = try makeTables(transaction)
      for owner in 0..<lists.owners {
        let elements = elements(of: owner)
        let name = lists.name(of: owner)
        let row = try table.insert { (row: inout NewRow) throws(StorageError) in
          try row.set(Position.number, Int64(owner))
          try row.set(Position.name, name)
          try row.set(Position.elements, .list(elements))
        }
        // The number of an owner is used as its row key later.
        guard row == UInt64(owner) else { throw BenchmarkError("owner \(owner) has row \(row)") }
      }
    }
  }

  private func makeTables(_ transaction: WriteTransaction) throws -> WritableTable {
    var elements = Column("elements", .int64, collection: .list)
    switch lists.kind {
    case .numbers: break
    case .texts: elements = Column("elements", .string, collection: .list)
    case .links:
      let items = try transaction.createTable(
        TableSchema(Self.items, columns: [Column("number", .int64)]))
      for item in 0..<lists.items {
        let row = try items.insert { (row: inout NewRow) throws(StorageError) in
          try row.set(0, Int64(item))
        }
        guard row == UInt64(item) else { throw BenchmarkError("item \(item) has row \(row)") }
      }
      elements = Column("elements", .link, collection: .list, target: items.schema.id)
    }
    return try transaction.createTable(
      TableSchema(Self.owners, columns: [Column("number", .int64), Column("name", .string), elements]))
  }

  private func elements(of owner: Int) -> [Value] {
    lists.kind == .texts
      ? lists.texts(of: owner).map { .string($0) } : lists.elements(of: owner).map(value)
  }

  private func value(_ element: Int) -> Value {
    lists.kind == .links ? .link(UInt64(element)) : .int(Int64(element))
  }

  func append(together elements: [Int], toListOf owner: Int) throws {
    try database.write { transaction in
      _ = try Self.owners(in: transaction).append(
        elements.lazy.map(value), toList: Position.elements, ofRow: UInt64(owner))
    }
  }

  func append(oneByOne elements: [Int], toListOf owner: Int) throws {
    try database.write { transaction in
      let table = try Self.owners(in: transaction)
      for element in elements {
        try table.append(
          CollectionOfOne(value(element)), toList: Position.elements, ofRow: UInt64(owner))
      }
    }
  }

  private static func owners(in transaction: WriteTransaction) throws -> WritableTable {
    guard let table = try transaction.table(owners) else {
      throw BenchmarkError("there is no table of owners")
    }
    return table
  }

  // MARK: - Small commits

  var hasRelaxedCommits: Bool { true }

  var promise: Promise {
    get { durability == .full ? .durable : .relaxed }
    set { durability = newValue == .durable ? .full : .relaxed }
  }

  var written: WrittenBytes? { WrittenBytes(database.writeStatistics) }

  private func commit(_ body: (WritableTable) throws -> Void) throws {
    try database.write(durability) { try body(Self.owners(in: $0)) }
  }

  func setNumber(_ number: Int64, of owner: Int) throws {
    try commit { try $0.set(.int(number), Position.number, ofRow: UInt64(owner)) }
  }

  func append(_ element: Int) throws {
    try commit {
      try $0.append(CollectionOfOne(value(element)), toList: Position.elements, ofRow: UInt64(lists.long))
    }
  }

  func insert(_ element: Int, at place: Int) throws {
    try commit {
      try $0.insert(
        CollectionOfOne(value(element)), at: place, ofList: Position.elements, ofRow: UInt64(lists.long))
    }
  }

  func remove(at place: Int) throws {
    try commit {
      try $0.removeElements(place..<place + 1, ofList: Position.elements, ofRow: UInt64(lists.long))
    }
  }

  // MARK: - Reading

  private func owners() throws -> Table {
    guard let table = try database.snapshot().table(Self.owners) else {
      throw BenchmarkError("there is no table of owners")
    }
    return table
  }

  private func longList() throws -> StoredList {
    guard let list = try owners().list(Position.elements, ofRow: UInt64(lists.long)) else {
      throw BenchmarkError("there is no owner of the long list")
    }
    return list
  }

  var findsPlaces: Bool { true }

  func read(at places: [Int]) throws -> Answer {
    let list = try longList()
    var answer = Answer()
    for place in places { answer.add(try list.element(at: place)) }
    return answer
  }

  func iterate() throws -> Answer {
    let list = try longList()
    var answer = Answer()
    var place = 0
    while place < list.count {
      let values = try list.elements(from: place)
      for value in values { answer.add(value) }
      place += values.count
    }
    return answer
  }

  func iterateAll() throws -> Answer {
    var answer = Answer()
    try owners().forEachGroup { (group) throws(StorageError) in
      for row in 0..<group.count {
        guard case .list(let elements, _) = try group.value(Position.elements, row) else { continue }
        for element in elements { answer.add(element) }
      }
      return true
    }
    return answer
  }

  func content() throws -> Answer {
    var hash = RowHash()
    for value in try longList().elements() {
      switch value {
      case .int(let number): hash.add(number)
      case .link(let row): hash.add(Int64(row))
      default: hash.addNull()
      }
    }
    var answer = Answer()
    answer.add(hash)
    return answer
  }

  func countLinks() throws -> Int {
    let snapshot = try database.snapshot()
    guard let owners = try snapshot.table(Self.owners), let items = try snapshot.table(Self.items) else {
      throw BenchmarkError("there is no table of items")
    }
    let column = owners.schema.columns[Position.elements]
    return try (0..<lists.items).reduce(0) {
      try $0 + items.linkCount(of: UInt64($1), column: column, of: owners.schema)
    }
  }

  // MARK: - Removing many

  func removeFirst(times: Int) throws {
    try database.write { transaction in
      let table = try Self.owners(in: transaction)
      for _ in 0..<times {
        try table.removeElements(0..<1, ofList: Position.elements, ofRow: UInt64(lists.long))
      }
    }
  }

  func delete(items: [Int], isTogether: Bool) throws -> Double {
    let rows = items.map { UInt64($0) }
    return try Measure.seconds {
      try database.write { transaction in
        guard let table = try transaction.table(Self.items) else {
          throw BenchmarkError("there is no table of items")
        }
        if isTogether {
          try table.remove(rows)
        } else {
          for row in rows { try table.remove(row) }
        }
      }
    }
  }

  func close() { database.close() }
}

extension Answer {
  /// Adds an element of a list.
  fileprivate mutating func add(_ value: Value) {
    switch value {
    case .int(let number): add(number)
    case .link(let row): add(Int64(row))
    case .string(let text): add(text)
    default: break
    }
  }
}
