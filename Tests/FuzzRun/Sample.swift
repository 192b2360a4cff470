import RealmStorage
import RealmTestSupport

/// The bytes of a small database file, and the contents that its meta pages name.
///
/// Plain samples of one seed differ between runs only in the file's number. Encrypted samples differ in each sealed
/// byte.
struct Sample {
  let name: String
  let key: [UInt8]?
  let isClean: Bool
  let bytes: [UInt8]
  /// The content of the newest version.
  let content: Content
  let newest: UInt64
  /// The fingerprints of the contents of the versions that the meta pages name.
  let named: Set<UInt64>
  /// The refs of the nodes of the newest version.
  let nodes: [Ref]

  /// Plain and encrypted samples, cleanly closed and not.
  static func all(seed: UInt64) throws -> [Sample] {
    var samples: [Sample] = []
    for isEncrypted in [false, true] {
      for isClean in [true, false] {
        samples.append(try make(isEncrypted: isEncrypted, isClean: isClean, seed: seed))
      }
    }
    return samples
  }

  static func options(_ key: [UInt8]?) -> Database.Options {
    var options = Database.Options(encryptionKey: key, decryptedMemory: 1 << 22)
    // The tables are small. The clusters are small, too, so that some of them are full.
    options.clusterRows = 8
    return options
  }

  /// For each byte, whether it lies in a node of the newest version, so that the version needs it.
  var reached: [Bool] {
    var reached = [Bool](repeating: false, count: bytes.count)
    let nonce = key == nil ? 0 : 24
    for node in nodes {
      let start = Int(node.offset)
      for offset in start..<start + node.length + nonce { reached[offset] = true }
    }
    return reached
  }

  // MARK: - Making

  private static let rounds = 8

  private static func make(isEncrypted: Bool, isClean: Bool, seed: UInt64) throws -> Sample {
    var generator = SeededGenerator(seed: seed)
    let key: [UInt8]? = isEncrypted ? Keys.first : nil
    let storage = try ByteStorage()
    let database = try Database(creatingIn: storage, options: options(key))
    var content = Content()
    var fingerprints = [database.version: content.fingerprint]
    for round in 0..<rounds {
      // The last two commits are full. If the file is not closed, its meta pages name both of them.
      try database.write(round == 3 ? .relaxed : .full) { transaction in
        try change(round, transaction, &content, &generator)
      }
      // The named version makes some nodes reachable only from it.
      if round == 4 { try database.keepVersion(named: "round \(round)") }
      fingerprints[database.version] = content.fingerprint
    }
    let nodes = try database.snapshot().nodes()
    if isClean { database.close() }
    // The database is closed when it is released.
    let bytes = withExtendedLifetime(database) { storage.bytes }
    let named = try namedFingerprints(bytes, fingerprints)
    guard named.contains(content.fingerprint), named.count == (isClean ? 1 : 2) else {
      throw Violation("the meta pages of a sample do not name what was committed last")
    }
    return Sample(
      name: (isEncrypted ? "encrypted" : "plain") + (isClean ? "-clean" : "-unclean"), key: key,
      isClean: isClean,
      bytes: bytes, content: content, newest: content.fingerprint, named: named, nodes: nodes)
  }

  private static func namedFingerprints(_ bytes: [UInt8], _ fingerprints: [UInt64: UInt64]) throws -> Set<
    UInt64
  > {
    var named: Set<UInt64> = []
    for page in 0..<2 {
      let start = page * FilePlace.page
      guard case .sound(let meta) = MetaPage.read(Array(bytes[start..<start + FilePlace.page])),
        let fingerprint = fingerprints[meta.version.number]
      else { throw Violation("meta page \(page) of a sample is not sound") }
      named.insert(fingerprint)
    }
    return named
  }

  private static func change(
    _ round: Int, _ transaction: WriteTransaction, _ content: inout Content,
    _ generator: inout SeededGenerator
  ) throws {
    if round == 0 { try fill(transaction, &content, &generator) }
    if round < 2 {
      try set(generator.bytes(70_000), for: Array("long \(round)".utf8), in: "c", transaction, &content)
    }
    for _ in 0..<6 {
      let key = Array("key \(generator.below(200))".utf8)
      try set(generator.bytes(generator.below(40)), for: key, in: "a", transaction, &content)
    }
    try set(generator.bytes(8), for: number(generator.below(80)), in: "b", transaction, &content)
    try changeTable(round, transaction, &content, &generator)
    let removed = Array("key \(generator.below(200))".utf8)
    try transaction.tree("a").removeValue(for: removed)
    content.trees["a"]?[removed] = nil
  }

  private static func changeTable(
    _ round: Int, _ transaction: WriteTransaction, _ content: inout Content,
    _ generator: inout SeededGenerator
  ) throws {
    var things = content.things ?? TableModel()
    let table =
      try transaction.table(TableModel.name)
      ?? transaction.createTable(TableSchema(TableModel.name, columns: TableModel.few))
    for _ in 0..<(round == 0 ? 60 : 3) {
      if let wrong = try things.change(table, &generator) { throw Violation(wrong) }
    }
    // The large collections are there so that their nodes are damaged, too.
    if round == 1 { try things.growCollections(table, &generator) }
    content.things = things
    try Workload.changeLinked(transaction, &content, &generator)
  }

  private static func fill(
    _ transaction: WriteTransaction, _ content: inout Content, _ generator: inout SeededGenerator
  ) throws {
    for index in 0..<180 {
      let value = generator.bytes(generator.below(40))
      try set(value, for: Array("key \(index)".utf8), in: "a", transaction, &content)
    }
    for index in 0..<60 {
      try set(generator.bytes(8), for: number(index), in: "b", transaction, &content)
      try set(
        generator.bytes(12), for: generator.bytes(1 + generator.below(20)), in: "c", transaction, &content)
    }
  }

  private static func set(
    _ value: [UInt8], for key: [UInt8], in name: String, _ transaction: WriteTransaction,
    _ content: inout Content
  ) throws {
    try transaction.tree(name).set(value, for: key)
    content.trees[name, default: [:]][key] = value
  }

  /// A number as eight bytes, because all keys of the tree have the same length.
  private static func number(_ value: Int) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: value >> (8 * (7 - $0))) }
  }
}
