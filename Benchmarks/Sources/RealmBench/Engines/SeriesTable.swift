/// A table that is filled with rows of one kind, by keys of one type: a number and a word each. What workloads on growing
/// tables ask of an engine.
protocol SeriesTable: AnyObject {
  /// Adds rows in one durable transaction; a key that is there already is an error.
  func insert(_ rows: SeriesRows) throws
  /// Looks for every thousandth of some rows by its key, and reads it.
  func read(_ rows: SeriesRows) throws -> Answer
  func count() throws -> Int
  /// Pages with nodes that commits have written, those that were only moved left out; nil of an engine that does not tell.
  var writtenNodeBytes: Int? { get }
  func close() throws
}

/// What a row's primary key is.
enum SeriesKeys {
  /// Whole numbers, each greater than those before it.
  case ascending
  /// Whole numbers in an order as good as random.
  case scrambled
  case uuids
}

/// Rows to add, of a series of `count`.
struct SeriesRows {
  let keys: SeriesKeys
  let places: Range<Int>
  let count: Int

  /// The key of a row, where keys are numbers.
  func number(_ row: Int) -> Int64 {
    Int64(keys == .scrambled ? Scrambled.place(of: row, in: count) : row)
  }

  /// The key of a row, where keys are 16 bytes.
  func uuid(_ row: Int) -> (UInt64, UInt64) {
    var random = SplitMix64(seed: UInt64(row))
    return (random.next(), random.next())
  }

  /// Every thousandth row.
  var few: StrideTo<Int> { stride(from: places.lowerBound, to: places.upperBound, by: 1_000) }

  /// What is read of a row, with its key.
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
  /// Nil for an engine that these workloads leave out.
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
