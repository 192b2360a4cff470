import CLMDB

/// Keys and values in LMDB's own form.
final class LMDBKeyValues: KeyValueFile {
  private var environment: OpaquePointer?
  private var pairs: MDB_dbi = 0

  init(folder: String) throws {
    try check(mdb_env_create(&environment))
    try check(mdb_env_set_mapsize(environment, 16 << 30))
    try check(mdb_env_open(environment, folder, 0, 0o644))
    try writingIn(environment) { try check(mdb_dbi_open($0, nil, UInt32(MDB_CREATE), &pairs)) }
  }

  /// A relaxed transaction is not flushed. LMDB differs from the other engines, because a loss of power may then
  /// destroy its file.
  func insert(_ source: inout PairSource, _ promise: Promise) throws {
    try check(mdb_env_set_flags(environment, UInt32(MDB_NOSYNC), promise == .durable ? 0 : 1))
    defer { mdb_env_set_flags(environment, UInt32(MDB_NOSYNC), 0) }
    try writingIn(environment) { transaction in
      while let batch = source.next() {
        for pair in batch {
          try withData(pair.key) { key in
            try withData(pair.value) { value in try check(mdb_put(transaction, pairs, &key, &value, 0)) }
          }
        }
      }
    }
  }

  func read(_ keys: [[UInt8]]) throws -> Answer {
    try reading { transaction in
      var answer = Answer()
      for key in keys {
        try withData(key) { key in
          var value = MDB_val()
          try check(mdb_get(transaction, pairs, &key, &value))
          answer.add(UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
        }
      }
      return answer
    }
  }

  func scan(from keys: [[UInt8]], count: Int) throws -> Answer {
    try reading { transaction in
      var cursor: OpaquePointer?
      try check(mdb_cursor_open(transaction, pairs, &cursor))
      defer { mdb_cursor_close(cursor) }
      var answer = Answer()
      for key in keys {
        try withData(key) { key in
          var value = MDB_val()
          var status = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE)
          var left = count
          while status == MDB_SUCCESS, left > 0 {
            answer.add(UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
            left -= 1
            if left > 0 { status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT) }
          }
          if status != MDB_NOTFOUND { try check(status) }
        }
      }
      return answer
    }
  }

  func remove(_ keys: [[UInt8]]) throws {
    try writingIn(environment) { transaction in
      for key in keys { try withData(key) { key in try check(mdb_del(transaction, pairs, &key, nil)) } }
    }
  }

  func count() throws -> Int {
    try reading { transaction in
      var statistics = MDB_stat()
      try check(mdb_stat(transaction, pairs, &statistics))
      return statistics.ms_entries
    }
  }

  func compact(to folder: String) throws -> Bool {
    try check(mdb_env_copy2(environment, folder, UInt32(MDB_CP_COMPACT)))
    return true
  }

  func close() {
    mdb_env_close(environment)
    environment = nil
  }

  private func reading<Result>(_ body: (OpaquePointer?) throws -> Result) throws -> Result {
    try readingIn(environment, body)
  }

  /// Calls `body` with the bytes, without a copy. LMDB's functions take them as mutable.
  private func withData<Result>(_ bytes: [UInt8], _ body: (inout MDB_val) throws -> Result) rethrows -> Result
  {
    try bytes.withUnsafeBytes { bytes in
      var value = MDB_val(
        mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
      return try body(&value)
    }
  }
}
