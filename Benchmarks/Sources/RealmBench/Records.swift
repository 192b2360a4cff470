import Foundation

/// A file of records: a number each, and a text of fixed length. What workloads on many processes and on the growth of
/// files ask of an engine.
protocol RecordFile: AnyObject {
  /// Adds records `0..<count` with texts of `textBytes` bytes, in one durable transaction.
  func fill(count: Int, textBytes: Int) throws
  /// Sets the number of a record, in one durable commit.
  func set(_ number: Double, of id: Int64) throws
  /// Begins a reader, which goes on seeing the content of now until `unpin`.
  func pin() throws
  func unpin() throws
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
  /// Nil for an engine that these workloads leave out: the object layer writes what the engine below it does.
  func openRecords(in folder: String) throws -> (any RecordFile)? {
    switch kind {
    case .realmStorage: try StorageRecords(folder: folder, isEncrypted: isEncrypted)
    case .realmObjects, .grdb: nil
    case .sqlite: try SQLiteRecords(folder: folder)
    case .lmdb: try LMDBRecords(folder: folder)
    }
  }
}

/// Workload 20: what a file becomes while a reader stays on an old version, and after it has gone.
struct Growth {
  let contender: Contender
  let sizes: Inputs.Sizes
  let folder: String

  private static let textBytes = 184
  static let afterwards = 100

  struct Outcome {
    /// Bytes of all files: as the bulk insert left them, with the reader, after it.
    var fresh: Int
    var pinned: Int
    var released: Int
    var answer: Answer
  }

  /// Nil for an engine that has no records.
  func run() throws -> Outcome? {
    guard let building = try contender.openRecords(in: folder) else { return nil }
    try building.fill(count: sizes.records, textBytes: Self.textBytes)
    try building.close()
    let fresh = try Measure.size(of: folder)
    guard let file = try contender.openRecords(in: folder) else { return nil }
    var random = SplitMix64(seed: 20)
    func change() throws {
      try file.set(random.nextFraction(), of: Int64(random.next(below: sizes.records)))
    }
    try file.pin()
    for _ in 0..<sizes.pinnedCommits { try change() }
    let pinned = try Measure.size(of: folder)
    try file.unpin()
    for _ in 0..<Self.afterwards { try change() }
    let released = try Measure.size(of: folder)
    let answer = try file.sum()
    try file.close()
    return Outcome(fresh: fresh, pinned: pinned, released: released, answer: answer)
  }
}
