import Foundation

/// A file of records. Each has a number and a text of fixed length. Workloads on several processes and on the growth of
/// files use it.
protocol RecordFile: AnyObject {
  /// Adds records `0..<count` with texts of `textBytes` bytes, in one durable transaction.
  func fill(count: Int, textBytes: Int) throws
  /// Sets the number of a record, in one durable commit.
  func set(_ number: Double, of id: Int64) throws
  /// Begins a reader, which sees the present content until the returned closure is called.
  func pin() throws -> () throws -> Void
  /// Reads all numbers.
  func sum() throws -> Answer
  func close() throws
}

/// The text of each record.
enum RecordText {
  static func make(_ id: Int, bytes: Int) -> String {
    var text = Words.all[id % Words.all.count]
    var random = SplitMix64(seed: UInt64(id))
    while text.utf8.count < bytes { text += " " + Words.all[random.next(below: Words.all.count)] }
    return String(text.utf8.prefix(bytes)) ?? text
  }
}

extension Contender {
  /// Opens the engine's file of records; the result is nil for an engine that does not take part.
  func openRecords(in folder: String) throws -> (any RecordFile)? {
    switch kind {
    case .realmStorage: try StorageRecords(folder: folder, isEncrypted: isEncrypted)
    case .realmObjects, .grdb: nil
    case .sqlite: try SQLiteRecords(folder: folder)
    case .lmdb: try LMDBRecords(folder: folder)
    }
  }
}
