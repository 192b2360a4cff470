import CLMDB

/// A growing database of LMDB. Each key has the number in 8 bytes, followed by the word.
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
        try withKey(rows, row) { key in
          try content.withUnsafeMutableBytes { bytes in
            var value = MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
            try check(mdb_put(transaction, self.rows, &key, &value, UInt32(MDB_NOOVERWRITE)))
          }
        }
      }
    }
  }

  private func withKey(_ rows: SeriesRows, _ row: Int, _ body: (inout MDB_val) throws -> Void) throws {
    guard rows.keys == .uuids else {
      var number = rows.number(row)
      return try withValue(&number, body)
    }
    var uuid = rows.uuid(row)
    try withUnsafeMutableBytes(of: &uuid) { bytes in
      var key = MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
      try body(&key)
    }
  }

  func read(_ rows: SeriesRows) throws -> Answer {
    try readingIn(environment) { transaction in
      var answer = Answer()
      for row in rows.few {
        try withKey(rows, row) { key in
          var value = MDB_val()
          try check(mdb_get(transaction, self.rows, &key, &value))
          let content = UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
          let text = UnsafeRawBufferPointer(rebasing: content.dropFirst(MemoryLayout<Double>.size))
          answer.add(rows.hash(row, content.loadUnaligned(as: Double.self), text))
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
