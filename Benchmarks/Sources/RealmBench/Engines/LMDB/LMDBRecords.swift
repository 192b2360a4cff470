import CLMDB

/// Records in LMDB: the number in 8 bytes, followed by the text.
final class LMDBRecords: RecordFile {
  private var environment: OpaquePointer?
  private var records: MDB_dbi = 0

  init(folder: String) throws {
    try check(mdb_env_create(&environment))
    try check(mdb_env_set_mapsize(environment, 16 << 30))
    // Readers do not belong to threads, so that a thread may read while it has a pinned reader.
    try check(mdb_env_open(environment, folder, UInt32(MDB_NOTLS), 0o644))
    try writingIn(environment) { transaction in
      try check(mdb_dbi_open(transaction, nil, UInt32(MDB_CREATE | MDB_INTEGERKEY), &records))
    }
  }

  func fill(count: Int, textBytes: Int) throws {
    try writingIn(environment) { transaction in
      var row: [UInt8] = []
      for id in 0..<count {
        row.removeAll(keepingCapacity: true)
        withUnsafeBytes(of: Double(id)) { row.append(contentsOf: $0) }
        row.append(contentsOf: RecordText.make(id, bytes: textBytes).utf8)
        try put(&row, at: Int64(id), UInt32(MDB_APPEND), transaction)
      }
    }
  }

  func set(_ number: Double, of id: Int64) throws {
    try writingIn(environment) { transaction in
      var id = id
      var row: [UInt8] = []
      try withValue(&id) { id in
        var value = MDB_val()
        try check(mdb_get(transaction, records, &id, &value))
        row.append(contentsOf: UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
      }
      row.withUnsafeMutableBytes { $0.storeBytes(of: number, as: Double.self) }
      try put(&row, at: id, 0, transaction)
    }
  }

  private func put(_ row: inout [UInt8], at id: Int64, _ flags: UInt32, _ transaction: OpaquePointer?) throws
  {
    var id = id
    try withValue(&id) { id in
      try row.withUnsafeMutableBytes { bytes in
        var value = MDB_val(mv_size: bytes.count, mv_data: bytes.baseAddress)
        try check(mdb_put(transaction, records, &id, &value, flags))
      }
    }
  }

  func pin() throws -> () throws -> Void {
    var pinned: OpaquePointer?
    try check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &pinned))
    let transaction = pinned
    return { mdb_txn_abort(transaction) }
  }

  func sum() throws -> Answer {
    var transaction: OpaquePointer?
    try check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction))
    defer { mdb_txn_abort(transaction) }
    var cursor: OpaquePointer?
    try check(mdb_cursor_open(transaction, records, &cursor))
    defer { mdb_cursor_close(cursor) }
    var answer = Answer()
    var (key, value) = (MDB_val(), MDB_val())
    var status = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
    while status == MDB_SUCCESS {
      answer.add(value.mv_data.loadUnaligned(as: Double.self))
      status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
    }
    if status != MDB_NOTFOUND { try check(status) }
    return answer
  }

  func close() {
    mdb_env_close(environment)
    environment = nil
  }
}
