import RealmStorage
import RealmSync

/// Where the state of the server stands in its file, but for the objects and the records of merging.
///
/// Keys begin with a byte that tells the kind; numbers in them have the highest byte first (FORMAT.md, "The state of a server").
struct ServerStore {
  let tree: WritableTree
  static let name = "sync.server"

  private enum Kind {
    static let header: UInt8 = 0
    /// Followed by the ordinal (4).
    static let replica: UInt8 = 1
    /// Followed by the version (8).
    static let entry: UInt8 = 2
    /// Followed by the version (8).
    static let rules: UInt8 = 3
    /// Followed by the key of the object and the version (8).
    static let touched: UInt8 = 4
    /// Followed by the ordinal (4) and the sequence (8).
    static let hash: UInt8 = 5
    /// Followed by the ordinal (4). Sessions are no part of what the log makes.
    static let session: UInt8 = 6
  }

  init(_ transaction: WriteTransaction) throws(StorageError) { tree = try transaction.tree(Self.name) }

  private func key(_ kind: UInt8, _ version: UInt64, object: [UInt8] = []) -> [UInt8] {
    var key = [kind] + object
    key.appendHighestFirst(version)
    return key
  }

  private func key(replica: UInt32) -> [UInt8] {
    var key = [Kind.replica]
    key.appendHighestFirst(replica)
    return key
  }

  // MARK: - What is held in memory

  struct Header: Equatable {
    var version: UInt64 = 0
    var horizon: UInt64 = 0
    var mark = Stamp(word: 0)
    /// The tag of the last entry.
    var tag: UInt64 = 0
  }

  func header() throws(StorageError) -> Header {
    guard let bytes = try tree.value(for: [Kind.header]) else { return Header() }
    var reader = ByteReader(bytes)
    guard let version = reader.varint(), let horizon = reader.varint(),
      let mark = reader.integer(UInt64.self),
      let tag = reader.integer(UInt64.self), reader.isAtEnd
    else { throw tree.damaged }
    return Header(version: version, horizon: horizon, mark: Stamp(word: mark), tag: tag)
  }

  func store(_ header: Header) throws(StorageError) {
    var bytes: [UInt8] = []
    bytes.appendVarint(header.version)
    bytes.appendVarint(header.horizon)
    bytes.appendInteger(header.mark.word)
    bytes.appendInteger(header.tag)
    try tree.set(bytes, for: [Kind.header])
  }

  /// All replicas, by their numbers, and their numbers by the ordinals.
  func replicas() throws(StorageError) -> (byNumber: [UInt64: Replica], numbers: [UInt64]) {
    var byNumber: [UInt64: Replica] = [:]
    var numbers: [UInt64] = [0]
    let damaged = tree.damaged
    try tree.forEach(from: [Kind.replica]) { (key, value) throws(StorageError) in
      guard key.first == Kind.replica else { return false }
      guard let (number, replica) = Replica.read(value), Int(replica.ordinal) == numbers.count,
        key == self.key(replica: replica.ordinal)
      else { throw damaged }
      byNumber[number] = replica
      numbers.append(number)
      return true
    }
    return (byNumber, numbers)
  }

  func store(_ replica: Replica, number: UInt64) throws(StorageError) {
    try tree.set(replica.bytes(number: number), for: key(replica: replica.ordinal))
  }

  /// What users may do, each from a version on.
  func rules() throws(StorageError) -> [String: [(from: UInt64, AccessRules)]] {
    var found: [String: [(from: UInt64, AccessRules)]] = [:]
    let damaged = tree.damaged
    try tree.forEach(from: [Kind.rules]) { (key, value) throws(StorageError) in
      guard key.first == Kind.rules else { return false }
      var reader = ByteReader(value)
      guard key.count == 9, let user = reader.text(), let rules = AccessRules(&reader), reader.isAtEnd else {
        throw damaged
      }
      found[user, default: []].append((key[1...].reduce(0) { $0 << 8 | UInt64($1) }, rules))
      return true
    }
    return found
  }

  func store(_ rules: AccessRules, user: String, from version: UInt64) throws(StorageError) {
    var bytes: [UInt8] = []
    ValueCoding.append(user, to: &bytes)
    rules.append(to: &bytes)
    try tree.set(bytes, for: key(Kind.rules, version))
  }

  // MARK: - History

  private struct Entry {
    /// The latest stamp of all up to the version.
    var mark: Stamp
    var tag: UInt64
    var history: HistoryEntry?
  }

  /// Nil of a version that is not there any more.
  private func entry(_ version: UInt64) throws(StorageError) -> Entry? {
    guard let bytes = try tree.value(for: key(Kind.entry, version)) else { return nil }
    var reader = ByteReader(bytes)
    guard let mark = reader.integer(UInt64.self), let tag = reader.integer(UInt64.self) else {
      throw tree.damaged
    }
    var entry = Entry(mark: Stamp(word: mark), tag: tag)
    if reader.isAtEnd { return entry }
    guard let history = HistoryEntry(version: version, &reader) else { throw tree.damaged }
    entry.history = history
    return entry
  }

  func mark(at version: UInt64) throws(StorageError) -> Stamp? { try entry(version)?.mark }

  /// The tag of the entry of a version; nil of one that is not there, or not any more.
  func tag(of version: UInt64) throws(StorageError) -> UInt64? { try entry(version)?.tag }

  func history(of version: UInt64) throws(StorageError) -> HistoryEntry? { try entry(version)?.history }

  func store(
    _ history: HistoryEntry?, version: UInt64, mark: Stamp, tag: UInt64, _ transaction: WriteTransaction
  ) throws(StorageError) {
    var bytes: [UInt8] = []
    bytes.appendInteger(mark.word)
    bytes.appendInteger(tag)
    history?.append(to: &bytes)
    try tree.set(bytes, for: key(Kind.entry, version))
    for (place, object) in (history?.objects ?? []).enumerated() {
      let name = try transaction.object(object.name).key
      var bytes: [UInt8] = []
      bytes.appendVarint(UInt64(place))
      try tree.set(bytes, for: key(Kind.touched, version, object: name))
    }
  }

  /// The versions behind one that changed an object, growing, each with the place of the object among those that it changed.
  func versions(
    of object: [UInt8], after version: UInt64
  ) throws(StorageError) -> [(version: UInt64, place: Int)] {
    var found: [(version: UInt64, place: Int)] = []
    let length = 1 + object.count + 8
    let start = key(Kind.touched, version + 1, object: object)
    let damaged = tree.damaged
    try tree.forEach(from: start) { (key, value) throws(StorageError) in
      guard key.count == length, key.starts(with: start.prefix(length - 8)) else { return false }
      var reader = ByteReader(value)
      guard let place = reader.varint().flatMap(Int.init(exactly:)), reader.isAtEnd else { throw damaged }
      found.append((key.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }, place))
      return true
    }
    return found
  }

  /// Forgets what entries up to a version did, but for the latest stamp up to that version.
  func trim(to horizon: UInt64, _ transaction: WriteTransaction) throws(StorageError) {
    var gone: [[UInt8]] = []
    var versions: [UInt64] = []
    try tree.forEach(from: [Kind.entry]) { (key, _) in
      let version = key.dropFirst().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      guard key.first == Kind.entry, version <= horizon else { return false }
      versions.append(version)
      return true
    }
    for version in versions {
      guard let entry = try entry(version) else { continue }
      for object in entry.history?.objects ?? [] {
        let name = try transaction.object(object.name).key
        gone.append(key(Kind.touched, version, object: name))
      }
      if version < horizon {
        gone.append(key(Kind.entry, version))
      } else {
        try store(nil, version: version, mark: entry.mark, tag: entry.tag, transaction)
      }
    }
    for key in gone { try tree.removeValue(for: key) }
  }

  // MARK: - Sessions

  private func key(_ kind: UInt8, replica: UInt32, _ sequence: UInt64? = nil) -> [UInt8] {
    var key = [kind]
    key.appendHighestFirst(replica)
    if let sequence { key.appendHighestFirst(sequence) }
    return key
  }

  /// The hash of a changeset of a replica that it may not know to be decided.
  func hash(of sequence: UInt64, replica: UInt32) throws(StorageError) -> [UInt8]? {
    try tree.value(for: key(Kind.hash, replica: replica, sequence))
  }

  func store(_ hash: [UInt8], of sequence: UInt64, replica: UInt32) throws(StorageError) {
    try tree.set(hash, for: key(Kind.hash, replica: replica, sequence))
  }

  /// Forgets the hashes of changesets below a sequence: the replica knows them to be decided.
  func removeHashes(below sequence: UInt64, replica: UInt32) throws(StorageError) {
    var gone: [[UInt8]] = []
    let end = key(Kind.hash, replica: replica, sequence)
    try tree.forEach(from: key(Kind.hash, replica: replica)) { (key, _) in
      guard key.lexicographicallyPrecedes(end) else { return false }
      gone.append(key)
      return true
    }
    for key in gone { try tree.removeValue(for: key) }
  }

  /// The session number that a replica named last, and the one that was offered last; nil of one that never had a session.
  func sessionNumbers(_ replica: UInt32) throws(StorageError) -> (confirmed: UInt64, offered: UInt64)? {
    guard let bytes = try tree.value(for: key(Kind.session, replica: replica)) else { return nil }
    var reader = ByteReader(bytes)
    guard let confirmed = reader.integer(UInt64.self), let offered = reader.integer(UInt64.self),
      reader.isAtEnd
    else { throw tree.damaged }
    return (confirmed, offered)
  }

  func store(confirmed: UInt64, offered: UInt64, replica: UInt32) throws(StorageError) {
    var bytes: [UInt8] = []
    bytes.appendInteger(confirmed)
    bytes.appendInteger(offered)
    try tree.set(bytes, for: key(Kind.session, replica: replica))
  }
}
