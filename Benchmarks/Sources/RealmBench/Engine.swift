/// What a commit promises when it returns.
enum Promise {
  /// It survives power loss.
  case durable
  /// It survives the death of the process.
  case relaxed
}

/// A storage engine with a file of Persons, in a folder of its own.
///
/// Each engine does a workload the way its own documentation would: statements are prepared once, and a workload that
/// reads does so in one read transaction. Answers are sums that do not depend on the order of the rows, so that those
/// of two engines can be compared.
protocol Engine: AnyObject, Questions {
  /// Adds all Persons in one durable transaction to a file that has none.
  func insertAll(_ source: inout PersonSource) throws

  /// Reads name and age of the Persons with these ids.
  func lookUp(_ ids: [Int64]) throws -> Answer
  /// Reads name, age and score of all.
  func iterate() throws -> Answer
  /// Counts by looking at each Person: age is not indexed.
  func count(age: Int64) throws -> Int
  /// The sum of the counts of Persons of each city, one count a city.
  func count(cities: [String]) throws -> Int
  /// Reads every value of all Persons.
  func readEverything() throws -> Answer

  /// Whether there are commits that are cheaper than durable ones and survive the death of the process.
  var hasRelaxedCommits: Bool { get }
  /// What the next commits promise; a durable commit where the engine has no other.
  var promise: Promise { get set }
  /// Brings the file into the state that small commits find it in while a program runs, where that is not the state
  /// of a file just opened. Changes no content.
  func prepareSmallCommits() throws
  /// Changes scores in one commit. The ids exist.
  func setScores(_ changes: ArraySlice<ScoreChange>) throws
  /// The same from many threads at once, each change in a commit that is durable when its thread goes on.
  func commitFromThreads(_ changes: [[ScoreChange]]) throws -> Committers.Times
  /// Adds one Person in one commit.
  func insert(_ person: Person) throws

  /// Begins a reader, which goes on seeing the content of now until `unpin`.
  func pin() throws
  /// The sum of all scores, as the pinned reader sees them.
  func readPinned() throws -> Answer
  func unpin() throws

  /// What it has written so far; nil where the engine does not tell.
  var written: WrittenBytes? { get }

  /// Writes a copy that is as small as the engine can make it; nil where it has no such thing.
  func compacted(at path: String) throws -> Bool
  func close() throws
}

extension Engine {
  var written: WrittenBytes? { nil }
}

/// What an engine has written, by what it is.
struct WrittenBytes {
  /// Of what was changed; what was only moved stands apart.
  var nodes: Int
  var moved: Int
  var meta: Int
  var growth: Int
}

/// The content that a workload read, as a number. It does not depend on the order in which rows were read.
struct Answer: Equatable {
  private(set) var value: UInt64 = 0

  init() {}
  init(_ number: Int) { value = UInt64(number) }

  /// Sums of doubles differ by the order in which they are added up.
  init(rounding numbers: (Double, Double)) {
    value = UInt64((numbers.0 / 1_000).rounded()) << 32 | UInt64((numbers.1 * 1_000_000).rounded())
  }

  mutating func add(_ number: Int64) { value &+= UInt64(bitPattern: number) }
  mutating func add(_ number: Double) { value &+= number.bitPattern }

  /// Length, first and last byte: what a program must have touched to have read a text, and no more, so that it is the
  /// engine that is measured.
  mutating func add(_ text: UnsafeRawBufferPointer) {
    value &+= UInt64(text.count)
    if let first = text.first, let last = text.last { value &+= UInt64(first) &<< 32 &+ UInt64(last) &<< 16 }
  }

  mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
  }

  mutating func add(_ row: RowHash) { value &+= row.value }
}

/// A hash of a row's values, in the order of the columns.
struct RowHash {
  private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  mutating func add(_ number: UInt64) {
    value = (value ^ number) &* 0x9e37_79b9_7f4a_7c15
    value ^= value &>> 29
  }

  mutating func add(_ number: Int64) { add(UInt64(bitPattern: number)) }
  mutating func add(_ number: Double) { add(number.bitPattern) }

  mutating func add(_ text: UnsafeRawBufferPointer) {
    add(UInt64(text.count))
    for byte in text { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
  }

  mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { add(UnsafeRawBufferPointer($0)) }
  }

  mutating func addNull() { add(UInt64(0x6e75_6c6c)) }

  init() {}

  init(_ person: Person) {
    add(person.id)
    add(person.name)
    add(person.email)
    add(person.age)
    add(person.score)
    add(Int64(person.active ? 1 : 0))
    add(person.created)
    add(person.city)
    if let bio = person.bio { add(bio) } else { addNull() }
  }
}

/// An engine, and whether its file is encrypted.
struct Contender: Hashable {
  enum Kind: String, CaseIterable {
    case realmStorage = "realm-storage"
    case realmObjects = "realm-objects"
    case sqlite = "sqlite-c"
    case grdb = "grdb"
    case lmdb = "lmdb"
  }

  let kind: Kind
  var isEncrypted = false

  var label: String { isEncrypted ? kind.rawValue + "+key" : kind.rawValue }
  /// One of this project's engines, not one that they are compared with.
  var isOurs: Bool { kind == .realmStorage || kind == .realmObjects }

  /// Opens the engine's file in `folder`, or makes it.
  func open(in folder: String, count: Int) throws -> any Engine {
    switch kind {
    case .realmStorage: try StorageEngine(folder: folder, isEncrypted: isEncrypted)
    case .realmObjects: try ObjectsEngine(folder: folder, isEncrypted: isEncrypted)
    case .sqlite: try SQLiteEngine(folder: folder, count: count)
    case .grdb: try GRDBEngine(folder: folder, count: count)
    case .lmdb: try LMDBEngine(folder: folder, count: count)
    }
  }
}

/// Why a run can't go on.
struct BenchmarkError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
