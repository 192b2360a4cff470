/// A table that is filled with rows of one kind and keys of one type. Each row has a number and a word. Workloads on
/// growing tables use it.
protocol SeriesTable: AnyObject {
  /// Adds rows in one durable transaction. A key that exists already is an error.
  func insert(_ rows: SeriesRows) throws
  /// Finds each thousandth of some rows by its key, and reads it.
  func read(_ rows: SeriesRows) throws -> Answer
  func count() throws -> Int
  /// The number of bytes of pages with nodes that commits have written, without nodes that were only moved; nil if the
  /// engine does not tell.
  var writtenNodeBytes: Int? { get }
  func close() throws
}

/// The kind of the rows' primary keys.
enum SeriesKeys {
  /// Integers, each of which is greater than those before it.
  case ascending
  /// Integers in an order that is as good as random.
  case scrambled
  case uuids
}

/// Some rows to add, of a series of `count` rows.
struct SeriesRows {
  let keys: SeriesKeys
  let places: Range<Int>
  let count: Int

  /// The key of a row, if keys are numbers.
  func number(_ row: Int) -> Int64 {
    Int64(keys == .scrambled ? Scrambled.place(of: row, in: count) : row)
  }

  /// The key of a row, if keys are 16 bytes.
  func uuid(_ row: Int) -> (UInt64, UInt64) {
    var random = SplitMix64(seed: UInt64(row))
    return (random.next(), random.next())
  }

  /// The indexes of each thousandth row.
  var few: StrideTo<Int> { stride(from: places.lowerBound, to: places.upperBound, by: 1_000) }

  /// The hash of a row that was read, with its key.
  func hash(_ row: Int, _ value: Double, _ text: UnsafeRawBufferPointer) -> RowHash {
    var hash = RowHash()
    if keys == .uuids {
      let uuid = uuid(row)
      hash.add(uuid.0)
      hash.add(uuid.1)
    } else {
      hash.add(number(row))
    }
    hash.add(value)
    hash.add(text)
    return hash
  }

  func value(_ row: Int) -> Double { Double(row) }
  func text(_ row: Int) -> String { Words.all[row % 500] }
}

extension Contender {
  /// Opens the engine's growing table; the result is nil for an engine that does not take part.
  func openSeries(in folder: String, keys: SeriesKeys) throws -> (any SeriesTable)? {
    switch kind {
    case .realmStorage: try StorageSeries(folder: folder, isEncrypted: isEncrypted, keys: keys)
    case .realmObjects, .grdb: nil
    case .sqlite: try SQLiteSeries(folder: folder, keys: keys)
    case .lmdb: try LMDBSeries(folder: folder, keys: keys)
    }
  }
}

/// A permutation of numbers, without a table of them.
enum Scrambled {
  /// - Parameter count: less than 2^32.
  static func place(of number: Int, in count: Int) -> Int {
    // A permutation of the numbers below the next power of two is applied until the result is less than `count`.
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
