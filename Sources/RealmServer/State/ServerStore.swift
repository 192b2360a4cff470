import RealmStorage
import RealmSync

/// The state of the server as it is stored in its file, without the objects and the records of merging.
///
/// A key begins with a byte that tells its kind. Numbers in keys have the highest byte first (FORMAT.md, "The state of
/// a server").
package struct ServerStore {
  let tree: WritableTree
  let settings: ServerState.Settings
  package static let name = "sync.server"

  enum Kind {
    static let header: UInt8 = 0
    /// Followed by the ordinal (4 bytes).
    static let replica: UInt8 = 1
    /// Followed by the version (8 bytes).
    static let entry: UInt8 = 2
    /// Followed by the version (8 bytes).
    static let rules: UInt8 = 3
    /// Followed by the key of the object and the version (8 bytes).
    static let touched: UInt8 = 4
    /// Followed by the ordinal (4 bytes) and the sequence (8 bytes).
    static let hash: UInt8 = 5
    /// Followed by the ordinal (4 bytes). The sessions are not derived from the log.
    static let session: UInt8 = 6
    /// Followed by a field, a value and the version (`RouteKey`).
    static let routed: UInt8 = 7
    /// Followed by the version (8 bytes).
    static let user: UInt8 = 8
    /// The settings of the server. They are not derived from the log.
    static let settings: UInt8 = 9
    /// Followed by the version (8 bytes); see `ServerStore+Size`.
    static let size: UInt8 = 10
    /// The time at which the server was started last. It is not derived from the log.
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
    /// The time at which the last entry was appended, in milliseconds since 1970.
    var time: UInt64 = 0
    /// The number of the rules of merging that are in force.
    var semantics: UInt64 = 1
    /// The hash over the effects of all entries up to `version`.
    var running: [UInt8] = []
    /// The hash over the effects of all entries up to the last version at which nodes compare, and that version.
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

  /// All replicas by number, and their numbers by ordinal.
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

  /// The rules by user, each with the version from which on they apply.
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

  /// The data of users, each with the version from which on it applies.
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
    /// The latest stamp of all changesets up to the version.
    var mark: Stamp
    var tag: UInt64
    var history: HistoryEntry?
  }

  /// The entry of a version; nil if it was removed.
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

  /// The tag of the entry of a version; nil if the version does not exist yet, or was removed.
  func tag(of version: UInt64) throws(StorageError) -> UInt64? { try entry(version)?.tag }

  func history(of version: UInt64) throws(StorageError) -> HistoryEntry? { try entry(version)?.history }

  /// The effects of a version behind the horizon; nil if it changed nothing.
  ///
  /// - Throws: `.corrupted`, also for a version that does not exist. So a damaged number that is far too great does not
  ///   make a caller count up to it.
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

  /// - Returns: the size of the entry in bytes.
  private func put(
    _ history: HistoryEntry?, version: UInt64, mark: Stamp, tag: UInt64
  ) throws(StorageError) -> Int {
    var bytes: [UInt8] = []
    bytes.appendInteger(mark.word)
    bytes.appendInteger(tag)
    history?.append(to: &bytes)
    // A longer entry could not be read again.
    guard bytes.count <= MessageLimit.frameBytes else {
      throw .limitExceeded(
        .valueLength(bytes.count, maximum: MessageLimit.frameBytes), path: "version \(version) of the history"
      )
    }
    let key = key(Kind.entry, version)
    try tree.set(bytes, for: key)
    return key.count + bytes.count
  }

  /// The versions greater than `version` that changed an object, in ascending order. With each stands the place of the
  /// object among those that the version changed.
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

  /// Removes the history up to a version. Of that version itself, the mark, the tag and the size stay.
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

  /// The hash of a decided changeset of a replica; nil if it is not kept. It is kept while the replica may not know
  /// that the changeset is decided.
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

  /// The versions in which the changesets of a replica with sequences greater than `sequence` were decided, in
  /// ascending order.
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

  /// Removes the hashes of changesets below a sequence, because the replica knows that these are decided.
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

  /// The server's record of a replica's sessions. It is not derived from the log.
  struct Session {
    /// The session number that the replica named last, and the one that was offered to it last.
    var confirmed: UInt64
    var offered: UInt64
    /// The version up to which the replica has all changes. It needs the history behind this version.
    var version: UInt64
    /// The time at which the replica was connected last, in milliseconds since 1970, as far as it was noted. The time
    /// since then in which the server did not run is added to it.
    var time: UInt64
  }

  /// The time at which the server was started last, in milliseconds since 1970; 0 if it is not known.
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

  /// The session of a replica; nil if it never had one.
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
