/// A file of keys and values, which are bytes, in the order of the keys.
protocol KeyValueFile: AnyObject {
  /// Adds pairs in one transaction.
  func insert(_ source: inout PairSource, _ promise: Promise) throws
  /// Reads the values of existing keys.
  func read(_ keys: [[UInt8]]) throws -> Answer
  /// Reads some pairs, beginning with each of the keys.
  func scan(from keys: [[UInt8]], count: Int) throws -> Answer
  /// Removes existing keys in one durable transaction.
  func remove(_ keys: [[UInt8]]) throws
  func count() throws -> Int
  /// Makes the file as small as the engine can. Returns false if the engine has no such operation.
  func compact(to folder: String) throws -> Bool
  func close() throws
}

extension Contender {
  /// Opens the engine's file of keys and values; the result is nil for an engine that has none.
  func openKeyValues(in folder: String) throws -> (any KeyValueFile)? {
    switch kind {
    case .realmStorage: try StorageKeyValues(folder: folder, isEncrypted: isEncrypted)
    case .realmObjects, .grdb: nil
    case .sqlite: try SQLiteKeyValues(folder: folder)
    case .lmdb: try LMDBKeyValues(folder: folder)
    }
  }
}
