import RealmStorage
import RealmSync
import RealmSyncClient
import RealmTestSupport
import Testing

/// The subscriptions of a client's file.
@Suite struct SubscriptionStoreTests {
  private static func subscription(
    _ number: UInt64, _ predicate: String, name: String? = nil, table: String = "Book"
  ) -> StoredSubscription {
    StoredSubscription(
      id: SixteenBytes(high: 7, low: number), name: name, table: table, predicate: predicate,
      createdAt: 1_800_000_000_000 + number, updatedAt: 1_800_000_000_500 + number)
  }

  private static let list = [
    subscription(1, "year > 2020", name: "new"), subscription(2, ""), subscription(3, "", table: "Author"),
    subscription(4, "year > 2020"), subscription(5, "name == 'É'", name: "É"),
  ]

  private static func newest(_ file: DrivenFile) throws -> StoredSubscriptionSet {
    try SubscriptionStore.newest(try file.database.snapshot())
  }

  private static func state(_ number: UInt64, _ file: DrivenFile) throws -> StoredSubscriptionState {
    try SubscriptionStore.state(of: number, try file.database.snapshot())
  }

  @discardableResult
  private static func set(_ list: [StoredSubscription], _ file: DrivenFile) throws -> UInt64 {
    try file.changing { try $0.setSubscriptions(list) }
  }

  /// Gives the file a step after which it has all objects of a query set.
  private static func show(_ number: UInt64, _ file: DrivenFile) throws {
    var step = try file.step()
    step.querySet = number
    _ = try file.changing { try $0.apply(StepParts([step]), time: DrivenFile.start) }
  }

  private static func key(_ number: UInt64) -> [UInt8] {
    [5] + (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
  }

  @Test func `a file without subscriptions has an empty set, which is complete`() throws {
    let file = try DrivenFile()
    #expect(try Self.newest(file) == StoredSubscriptionSet(number: 0))
    #expect(try Self.state(0, file) == .complete)
    #expect(try file.reading { try $0.subscriptions() } == StoredSubscriptionSet(number: 0))
  }

  @Test func `subscriptions are read as they were written, and the server gets each query once`() throws {
    let file = try DrivenFile()
    let number = try Self.set(Self.list, file)
    let expected = StoredSubscriptionSet(number: number, subscriptions: Self.list)
    #expect(try Self.newest(file) == expected)
    #expect(try file.reading { try $0.subscriptions() } == expected)
    let transaction = try file.database.beginWrite()
    #expect(try SubscriptionStore.newest(transaction) == expected)
    transaction.cancel()
    let queries = try #require(try file.reading { try $0.querySet(number) }).queries
    #expect(queries.map(\.table) == ["Book", "Book", "Author", "Book"])
    #expect(queries.map(\.predicate) == ["year > 2020", "", "", "name == 'É'"])
  }

  @Test func `texts of subscriptions are compared by their bytes`() throws {
    let composed = Self.subscription(1, "name == '\u{e9}'", name: "\u{e9}")
    let decomposed = Self.subscription(1, "name == 'e\u{301}'", name: "e\u{301}")
    #expect(composed != decomposed)
    #expect(!composed.isNamed("e\u{301}") && composed.isNamed("\u{e9}") && !composed.isNamed(nil))
    let file = try DrivenFile()
    let number = try Self.set([composed, decomposed], file)
    #expect(try file.reading { try $0.querySet(number) }?.queries.count == 2)
  }

  @Test func `a set is pending, then complete, then superseded, and then it is forgotten`() throws {
    let file = try DrivenFile(changes: 0)
    try file.begin()
    let first = try Self.set(Self.list, file)
    #expect(try Self.state(first, file) == .pending)
    #expect(try Self.state(0, file) == .complete)
    let second = try Self.set([], file)
    try Self.show(first, file)
    #expect(try Self.state(0, file) == .superseded)
    #expect(try Self.state(first, file) == .complete)
    #expect(try Self.state(second, file) == .pending)
    let tree = try file.database.snapshot().tree(ClientPosition.tree)
    #expect(try tree.value(for: Self.key(first)) != nil)
    try Self.show(second, file)
    #expect(try Self.state(first, file) == .superseded)
    #expect(try Self.state(second, file) == .complete)
    let later = try file.database.snapshot().tree(ClientPosition.tree)
    #expect(try later.value(for: Self.key(first)) == nil)
    #expect(try later.value(for: Self.key(second)) != nil)
    #expect(try Self.newest(file) == StoredSubscriptionSet(number: second))
  }

  @Test func `a refused set stays refused until a newer one is in force, and keeps its subscriptions`() throws
  {
    let file = try DrivenFile(changes: 0)
    try file.begin()
    let first = try Self.set([], file)
    try Self.show(first, file)
    let second = try Self.set(Self.list, file)
    for _ in 0..<2 {
      try file.changing { try $0.noteRefused(querySet: second, code: 203, text: "no such field") }
    }
    #expect(try Self.state(second, file) == .refused(code: 203, text: "no such field"))
    #expect(try Self.state(first, file) == .complete)
    var expected = StoredSubscriptionSet(number: second, subscriptions: Self.list)
    expected.refusal = StoredSubscriptionSet.Refusal(code: 203, text: "no such field")
    #expect(try Self.newest(file) == expected)
    let third = try Self.set([Self.list[0]], file)
    #expect(try Self.newest(file) == StoredSubscriptionSet(number: third, subscriptions: [Self.list[0]]))
    #expect(try Self.state(second, file) == .refused(code: 203, text: "no such field"))
    try Self.show(third, file)
    #expect(try Self.state(second, file) == .superseded)
  }

  @Test func `nothing is noted about a set that is in force, older or missing`() throws {
    let file = try DrivenFile(changes: 0)
    try file.begin()
    let first = try Self.set(Self.list, file)
    let second = try Self.set([], file)
    try Self.show(second, file)
    for number in [0, first, second, second + 1, .max] {
      try file.changing { try $0.noteRefused(querySet: number, code: 1, text: "") }
    }
    #expect(try Self.state(first, file) == .superseded)
    #expect(try Self.state(second, file) == .complete)
    #expect(try Self.state(second + 1, file) == .pending)
    #expect(try Self.newest(file) == StoredSubscriptionSet(number: second))
  }

  // MARK: - Bytes that are none

  private static func put(_ bytes: [UInt8], at number: UInt64, _ file: DrivenFile) throws {
    let transaction = try file.database.beginWrite()
    defer { transaction.cancel() }
    try transaction.tree(ClientPosition.tree).set(bytes, for: key(number))
    try transaction.commit()
  }

  private static func isDamaged(_ file: DrivenFile) throws -> Bool {
    do throws(StorageError) {
      _ = try SubscriptionStore.newest(try file.database.snapshot())
      return false
    } catch {
      guard case .corrupted = error else { throw error }
      return true
    }
  }

  @Test func `bytes that end early, or have other bytes after them, are damage`() throws {
    let file = try DrivenFile(changes: 0)
    let number = try Self.set(Self.list, file)
    try file.changing { try $0.noteRefused(querySet: number, code: 203, text: "no such field") }
    let tree = try file.database.snapshot().tree(ClientPosition.tree)
    let bytes = try #require(try tree.value(for: Self.key(number)))
    for count in 0..<bytes.count {
      try Self.put(Array(bytes[..<count]), at: number, file)
      #expect(try Self.isDamaged(file), "\(count) of \(bytes.count) bytes")
    }
    try Self.put(bytes + [0], at: number, file)
    #expect(try Self.isDamaged(file))
    #expect(throws: StorageError.self) { try Self.state(number, file) }
    #expect(throws: ClientProblem.self) { try file.reading { try $0.subscriptions() } }
    try Self.put(bytes, at: number, file)
    #expect(try !Self.isDamaged(file))
  }

  @Test func `bytes that were changed are read as damage or as other subscriptions`() throws {
    let file = try DrivenFile(changes: 0)
    let number = try Self.set(Self.list, file)
    let tree = try file.database.snapshot().tree(ClientPosition.tree)
    let bytes = try #require(try tree.value(for: Self.key(number)))
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    for round in 0..<300 {
      var changed = bytes
      for _ in 0...random.below(3) { changed[random.below(changed.count)] = random.bytes(1)[0] }
      try Self.put(changed, at: number, file)
      guard try !Self.isDamaged(file) else { continue }
      #expect(try Self.newest(file).number == number, "seed \(seed), round \(round)")
    }
  }

  @Test func `a count that is too great for the number of bytes is damage`() throws {
    let file = try DrivenFile(changes: 0)
    let number = try Self.set([], file)
    let id = [UInt8](repeating: 0, count: 16)
    let endless = [UInt8](repeating: 0xff, count: 9)
    let cases: [[UInt8]] = [
      [], [2, 0], [0, 1], [0] + endless + [1], [1, 0, 0, 0, 0, 0xff, 1], [0, 1] + id + [2, 0, 0, 0, 0],
      [0, 1] + id + [0, 1, 0xff, 0, 0, 0],
    ]
    for bytes in cases {
      try Self.put(bytes, at: number, file)
      #expect(try Self.isDamaged(file), "\(bytes)")
    }
  }
}
