import CLMDB

/// A growing database of LMDB: the number in 8 bytes, then the word, by key.
final class LMDBSeries: SeriesTable {
  private var environment: OpaquePointer?
  private var rows: MDB_dbi = 0

  init(folder: String, keys: SeriesKeys) throws {
    try check(mdb_env_create(&environment))
    try check(mdb_env_set_mapsize(environment, 16 << 30))
    try check(mdb_env_open(environment, folder, 0, 0o644))
    let flags = UInt32(MDB_CREATE | (keys == .uuids ? 0 : MDB_INTEGERKEY))
    try writingIn(environment) { try check(mdb_dbi_open($0, nil, flags, &rows)) }
  }

  func insert(_ rows: SeriesRows) throws {
    try writingIn(environment) { transaction in
      var content: [UInt8] = []
      for row in rows.places {
        content.removeAll(keepingCapacity: true)
        withUnsafeBytes(of: rows.value(row)) { content.append(contentsOf: $0) }
        content.append(contentsOf: rows.text(row).utf8)
        if rows.keys == .uuids {
          var key = rows.uuid(row)
          try withUnsafeMutableBytes(of: &key) { try put(&content, at: $0, transaction) }
        } else {
          var key = rows.number(row)
          try withUnsafeMutableBytes(of: &key) { try put(&content, at: $0, transaction) }
        }
      }
    }
  }

  private func put(
    _ content: inout [UInt8], at key: UnsafeMutableRawBufferPointer, _ transaction: OpaquePointer?
  ) throws {
    var key = MDB_val(mv_size: key.count, mv_data: key.baseAddress)
    try content.withUnsafeMutableBytes { bytes in
      var value = MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
      try check(mdb_put(transaction, self.rows, &key, &value, UInt32(MDB_NOOVERWRITE)))
    }
  }

  func read(_ rows: SeriesRows) throws -> Answer {
    try readingIn(environment) { transaction in
      var answer = Answer()
      func read(_ row: Int, _ key: UnsafeMutableRawBufferPointer) throws {
        var (key, value) = (MDB_val(mv_size: key.count, mv_data: key.baseAddress), MDB_val())
        try check(mdb_get(transaction, self.rows, &key, &value))
        let content = UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
        let text = UnsafeRawBufferPointer(rebasing: content.dropFirst(MemoryLayout<Double>.size))
        answer.add(rows.hash(row, content.loadUnaligned(as: Double.self), text))
      }
      for row in rows.few {
        if rows.keys == .uuids {
          var key = rows.uuid(row)
          try withUnsafeMutableBytes(of: &key) { try read(row, $0) }
        } else {
          var key = rows.number(row)
          try withUnsafeMutableBytes(of: &key) { try read(row, $0) }
        }
      }
      return answer
    }
  }

  func count() throws -> Int {
    try readingIn(environment) { transaction in
      var statistics = MDB_stat()
      try check(mdb_stat(transaction, rows, &statistics))
      return statistics.ms_entries
    }
  }

  var writtenNodeBytes: Int? { nil }

  func close() {
    mdb_env_close(environment)
    environment = nil
  }
}
