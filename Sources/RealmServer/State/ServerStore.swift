import RealmStorage
import RealmSync

/// Where the state of the server stands in its file, but for the objects and the records of merging.
///
/// Keys begin with a byte that tells the kind; numbers in them have the highest byte first (FORMAT.md, "The state of a server").
package struct ServerStore {
  let tree: WritableTree
  let settings: ServerState.Settings
  package static let name = "sync.server"

  enum Kind {
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
    /// Followed by a field, a value and the version (`RouteKey`).
    static let routed: UInt8 = 7
    /// Followed by the version (8).
    static let user: UInt8 = 8
    /// What the server is set to. It is no part of what the log makes.
    static let settings: UInt8 = 9
    /// Followed by the version (8) (`ServerStore+Size`).
    static let size: UInt8 = 10
    /// When the server was started last. It is no part of what the log makes.
    static let started: UInt8 = 11
  }

  init(_ transaction: WriteTransaction, _ settings: ServerState.Settings) throws(StorageError) {
    tree = try transaction.tree(Self.name)
    self.settings = settings
  }

  func key(_ kind: UInt8, _ version: UInt64, object: [UInt8] = []) -> [UInt8] {
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
    /// When it was appended.
    var time: UInt64 = 0
    /// The number of the rules of merging.
    var semantics: UInt64 = 1
    /// The hash of all that was made of the log.
    var running: [UInt8] = []
    /// The same as of the last version at which nodes compare, and that version.
    var hash: [UInt8] = []
    var hashed: UInt64 = 0
  }

  func header() throws(StorageError) -> Header {
    guard let bytes = try tree.value(for: [Kind.header]) else { return Header() }
    var reader = ByteReader(bytes)
    guard let version = reader.varint(), let horizon = reader.varint(),
      let mark = reader.integer(UInt64.self),
      let tag = reader.integer(UInt64.self), let time = reader.varint(), let semantics = reader.varint(),
      let running = reader.counted(), let hash = reader.counted(), let hashed = reader.varint(),
      reader.isAtEnd, version < 1 << 62, time < 1 << 62, horizon <= version, hashed <= version
    else { throw tree.damaged }
    return Header(
      version: version, horizon: horizon, mark: Stamp(word: mark), tag: tag, time: time, semantics: semantics,
      running: Array(running), hash: Array(hash), hashed: hashed)
  }

  func store(_ header: Header) throws(StorageError) {
    var bytes: [UInt8] = []
    bytes.appendVarint(header.version)
    bytes.appendVarint(header.horizon)
    bytes.appendInteger(header.mark.word)
    bytes.appendInteger(header.tag)
    bytes.appendVarint(header.time)
    bytes.appendVarint(header.semantics)
    for hash in [header.running, header.hash] {
      bytes.appendVarint(UInt64(hash.count))
      bytes += hash
    }
    bytes.appendVarint(header.hashed)
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

  /// What is known of users, each from a version on.
  func users() throws(StorageError) -> [String: [(from: UInt64, [String: [Value]])]] {
    var found: [String: [(from: UInt64, [String: [Value]])]] = [:]
    let damaged = tree.damaged
    try tree.forEach(from: [Kind.user]) { (key, value) throws(StorageError) in
      guard key.first == Kind.user else { return false }
      var reader = ByteReader(value)
      guard key.count == 9, let user = reader.text(), let data = UserData(&reader), reader.isAtEnd else {
        throw damaged
      }
      found[user, default: []].append((key[1...].reduce(0) { $0 << 8 | UInt64($1) }, data.values))
      return true
    }
    return found
  }

  func store(_ data: [String: [Value]], user: String, from version: UInt64) throws(StorageError) {
    var bytes: [UInt8] = []
    ValueCoding.append(user, to: &bytes)
    UserData(values: data).append(to: &bytes)
    try tree.set(bytes, for: key(Kind.user, version))
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

  /// What a version behind the horizon did; nil where it changed nothing.
  ///
  /// - Throws: `.corrupted`, also of a version that is not there: a number without an end is not counted up to.
  func knownHistory(of version: UInt64) throws(StorageError) -> HistoryEntry? {
    guard let entry = try entry(version) else { throw tree.damaged }
    return entry.history
  }

  func store(
    _ history: HistoryEntry?, version: UInt64, mark: Stamp, tag: UInt64, _ transaction: WriteTransaction
  ) throws(StorageError) {
    var size = try put(history, version: version, mark: mark, tag: tag)
    for (place, object) in (history?.objects ?? []).enumerated() {
      let name = try transaction.object(object.name).key
      var bytes: [UInt8] = []
      bytes.appendVarint(UInt64(place))
      let key = key(Kind.touched, version, object: name)
      try tree.set(bytes, for: key)
      size += key.count + bytes.count
    }
    if let history {
      for (key, places) in try routes(of: history, transaction) {
        var bytes: [UInt8] = []
        for place in places { bytes.appendVarint(UInt64(place)) }
        try tree.set(bytes, for: key)
        size += key.count + bytes.count
      }
    }
    try note(bytes: size, of: version)
  }

  /// - Returns: how many bytes the entry takes.
  private func put(
    _ history: HistoryEntry?, version: UInt64, mark: Stamp, tag: UInt64
  ) throws(StorageError) -> Int {
    var bytes: [UInt8] = []
    bytes.appendInteger(mark.word)
    bytes.appendInteger(tag)
    history?.append(to: &bytes)
    // What is longer can't be read again.
    guard bytes.count <= MessageLimit.frameBytes else {
      throw .limitExceeded(
        .valueLength(bytes.count, maximum: MessageLimit.frameBytes), path: "version \(version) of the history"
      )
    }
    let key = key(Kind.entry, version)
    try tree.set(bytes, for: key)
    return key.count + bytes.count
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
      if let history = entry.history { gone += try routes(of: history, transaction).keys }
      if version < horizon {
        gone += [key(Kind.entry, version), key(Kind.size, version)]
      } else {
        _ = try put(nil, version: version, mark: entry.mark, tag: entry.tag)
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
    try tree.value(for: key(Kind.hash, replica: replica, sequence)).map {
      Array($0.prefix(Upload.hashLength))
    }
  }

  func store(_ hash: [UInt8], of sequence: UInt64, in version: UInt64, replica: UInt32) throws(StorageError) {
    var bytes = hash
    bytes.appendVarint(version)
    try tree.set(bytes, for: key(Kind.hash, replica: replica, sequence))
  }

  /// The versions in which changesets of a replica behind a sequence were decided, growing.
  func versions(ofReplica replica: UInt32, after sequence: UInt64) throws(StorageError) -> [UInt64] {
    var found: [UInt64] = []
    let start = key(Kind.hash, replica: replica)
    let damaged = tree.damaged
    try tree.forEach(from: key(Kind.hash, replica: replica, sequence + 1)) {
      (key, value) throws(StorageError) in
      guard key.starts(with: start) else { return false }
      var reader = ByteReader(Array(value.dropFirst(Upload.hashLength)))
      guard let version = reader.varint(), reader.isAtEnd else { throw damaged }
      found.append(version)
      return true
    }
    return found
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

  /// What the server knows of a replica beside the log.
  struct Session {
    /// The session number that the replica named last, and the one that was offered to it last.
    var confirmed: UInt64
    var offered: UInt64
    /// The replica has all up to this version, and needs what is behind it.
    var version: UInt64
    /// When it was connected last, in milliseconds since 1970, as far as that was noted, and without the time since in which the server did not run.
    var time: UInt64
  }

  /// When the server was started last, in milliseconds since 1970; 0 where that is not known.
  func started() throws(StorageError) -> UInt64 {
    guard let bytes = try tree.value(for: [Kind.started]) else { return 0 }
    var reader = ByteReader(bytes)
    guard let time = reader.varint(), reader.isAtEnd else { throw tree.damaged }
    return time
  }

  func setStarted(_ time: UInt64) throws(StorageError) {
    var bytes: [UInt8] = []
    bytes.appendVarint(time)
    try tree.set(bytes, for: [Kind.started])
  }

  /// Nil of a replica that never had a session.
  func session(_ replica: UInt32) throws(StorageError) -> Session? {
    guard let bytes = try tree.value(for: key(Kind.session, replica: replica)) else { return nil }
    var reader = ByteReader(bytes)
    guard let confirmed = reader.integer(UInt64.self), let offered = reader.integer(UInt64.self),
      let version = reader.varint(), let time = reader.varint(), reader.isAtEnd
    else { throw tree.damaged }
    return Session(confirmed: confirmed, offered: offered, version: version, time: time)
  }

  func store(_ session: Session, replica: UInt32) throws(StorageError) {
    var bytes: [UInt8] = []
    bytes.appendInteger(session.confirmed)
    bytes.appendInteger(session.offered)
    bytes.appendVarint(session.version)
    bytes.appendVarint(session.time)
    try tree.set(bytes, for: key(Kind.session, replica: replica))
  }
}
