import RealmStorage

/// Keys and values in a named tree.
final class StorageKeyValues: KeyValueFile {
  private let database: Database
  private let key: [UInt8]?
  private static let tree = "pairs"

  init(folder: String, isEncrypted: Bool) throws {
    key = isEncrypted ? (0..<64).map { UInt8($0) } : nil
    database = try Database(path: folder + "/pairs.realm", options: .init(encryptionKey: key))
  }

  func insert(_ source: inout PairSource, _ promise: Promise) throws {
    try database.write(promise == .durable ? .full : .relaxed) { transaction in
      let tree = try transaction.tree(Self.tree)
      while let pairs = source.next() {
        for pair in pairs { try tree.set(pair.value, for: pair.key) }
      }
    }
  }

  func read(_ keys: [[UInt8]]) throws -> Answer {
    let tree = try database.snapshot().tree(Self.tree)
    var answer = Answer()
    for key in keys {
      guard let value = try tree.value(for: key) else { throw BenchmarkError("no value of a key") }
      value.withUnsafeBytes { answer.add($0) }
    }
    return answer
  }

  func scan(from keys: [[UInt8]], count: Int) throws -> Answer {
    let tree = try database.snapshot().tree(Self.tree)
    var answer = Answer()
    for key in keys {
      var left = count
      try tree.forEach(from: key) { (_, value) throws(StorageError) in
        value.withUnsafeBytes { answer.add($0) }
        left -= 1
        return left > 0
      }
    }
    return answer
  }

  func remove(_ keys: [[UInt8]]) throws {
    try database.write { transaction in
      let tree = try transaction.tree(Self.tree)
      for key in keys { try tree.removeValue(for: key) }
    }
  }

  func count() throws -> Int { try database.snapshot().tree(Self.tree).count() }

  /// Makes a compact copy like `Database.compact(path:)`, which then replaces the file with the copy.
  func compact(to folder: String) throws -> Bool {
    try database.snapshot().copy(to: folder + "/pairs.realm", encryptionKey: key)
    return true
  }

  func close() { database.close() }
}
