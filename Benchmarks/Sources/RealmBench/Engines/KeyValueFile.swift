/// A file of keys and values, both bytes, in the order of the keys.
protocol KeyValueFile: AnyObject {
  /// Adds pairs in one transaction.
  func insert(_ source: inout PairSource, _ promise: Promise) throws
  /// Reads the values of keys that are there.
  func read(_ keys: [[UInt8]]) throws -> Answer
  /// Reads some pairs from each of the keys on.
  func scan(from keys: [[UInt8]], count: Int) throws -> Answer
  /// Removes keys that are there, in one durable transaction.
  func remove(_ keys: [[UInt8]]) throws
  func count() throws -> Int
  /// Makes the file as small as the engine can: false where it does nothing for that when it is asked.
  func compact(to folder: String) throws -> Bool
  func close() throws
}

extension Contender {
  /// Nil for an engine that has no keys and values.
  func openKeyValues(in folder: String) throws -> (any KeyValueFile)? {
    switch kind {
    case .realmStorage: try StorageKeyValues(folder: folder, isEncrypted: isEncrypted)
    case .realmObjects, .grdb: nil
    case .sqlite: try SQLiteKeyValues(folder: folder)
    case .lmdb: try LMDBKeyValues(folder: folder)
    }
  }
}
