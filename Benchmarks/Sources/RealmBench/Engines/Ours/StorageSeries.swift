import RealmStorage

/// A table that is filled with rows of one kind, by keys of one type.
final class StorageSeries {
  private let database: Database
  private let keys: SeriesKeys
  private static let table = "Row"

  init(folder: String, isEncrypted: Bool, keys: SeriesKeys) throws {
    self.keys = keys
    let key = isEncrypted ? (0..<64).map { UInt8($0) } : nil
    database = try Database(path: folder + "/series.realm", options: .init(encryptionKey: key))
    let schema = TableSchema(
      Self.table,
      columns: [
        Column("id", keys == .uuids ? .uuid : .int64, index: .unique), Column("number", .double),
        Column("text", .string),
      ])
    try database.write { _ = try $0.createTable(schema) }
  }

  /// Adds rows in one durable transaction.
  func insert(_ rows: Range<Int>, of count: Int) throws {
    try database.write { transaction in
      guard let table = try transaction.table(Self.table) else { throw BenchmarkError("there is no table") }
      for row in rows {
        try table.insert { (new: inout NewRow) throws(StorageError) in
          switch keys {
          case .ascending: try new.set(0, Int64(row))
          case .scrambled: try new.set(0, Int64(Scrambled.place(of: row, in: count)))
          case .uuids: try new.set(0, .uuid(SixteenBytes(Self.uuid(row))))
          }
          try new.set(1, Double(row))
          try new.set(2, Words.all[row % 500])
        }
      }
    }
  }

  private static func uuid(_ row: Int) -> [UInt8] {
    var random = SplitMix64(seed: UInt64(row))
    let (high, low) = (random.next(), random.next())
    return withUnsafeBytes(of: high) { Array($0) } + withUnsafeBytes(of: low) { Array($0) }
  }

  /// Pages with nodes that commits have written, those that were only moved left out.
  var writtenNodeBytes: Int { database.writeStatistics.nodeBytes - database.writeStatistics.movedBytes }

  func count() throws -> Int { try database.snapshot().table(Self.table)?.count ?? 0 }
  func close() { database.close() }
}

/// What a row's primary key is.
enum SeriesKeys {
  /// Whole numbers, each greater than those before it.
  case ascending
  /// Whole numbers in an order as good as random.
  case scrambled
  case uuids
}

/// A permutation of numbers, without a table of them.
enum Scrambled {
  /// - Parameter count: less than 2^32.
  static func place(of number: Int, in count: Int) -> Int {
    // A permutation of the numbers below the next power of two, applied until the number is among those asked for.
    let bits = Int.bitWidth - (count - 1).leadingZeroBitCount
    let mask = 1 << bits - 1
    let half = (bits + 1) / 2
    var place = number
    repeat {
      for factor in [0x9e37_79b1, 0x85eb_ca6b, 0xc2b2_ae35] {
        place = (place &* factor) & mask
        place ^= place >> half
      }
    } while place >= count
    return place
  }
}
