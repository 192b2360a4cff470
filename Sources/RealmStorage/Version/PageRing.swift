/// The changes of the last commits to pages, so that the writer of another process can bring its map up to date at the cost
/// of what changed.
///
/// The ring is written and read under the writer's lock only. A record has the version, the version before it, the
/// number of words, and then a word for each page: the page number, whether this version wrote the page, and the number
/// of its live units. A map of another epoch can't be brought up to date, so its owner walks the file.
///
///     word  0 epoch, 1 where the oldest record starts, 2 where the next will, both counted on without end
struct PageRing: Sendable {
  let memory: SharedMemory

  private static let base = ControlPlace.ring / 8
  private static let records = base + 8
  private static let capacity = UInt64(ControlPlace.ringBytes / 8 - 8)
  /// A commit that changes more pages raises the epoch.
  static let mostPages = Int(capacity) / 4
  private static let header: UInt64 = 3

  struct Change: Equatable, Sendable {
    var page: Int
    /// Whether the version of the record wrote the page.
    var isNew: Bool
    var liveUnits: Int

    fileprivate var word: UInt64 {
      UInt64(page) << 8 | (isNew ? 0x80 : 0) | UInt64(liveUnits)
    }
    fileprivate init(word: UInt64) {
      page = Int(clamping: word >> 8)
      isNew = word & 0x80 != 0
      liveUnits = Int(word & 0x7f)
    }
    init(page: Int, isNew: Bool, liveUnits: Int) {
      self.page = page
      self.isNew = isNew
      self.liveUnits = liveUnits
    }
  }

  struct Record: Equatable, Sendable {
    var version: UInt64
    var before: UInt64
    var changes: [Change]
  }

  var epoch: UInt64 { memory[word: Self.base] }
  private var first: UInt64 {
    get { memory[word: Self.base + 1] }
    nonmutating set { memory[word: Self.base + 1] = newValue }
  }
  private var end: UInt64 {
    get { memory[word: Self.base + 2] }
    nonmutating set { memory[word: Self.base + 2] = newValue }
  }

  private subscript(position: UInt64) -> UInt64 {
    get { memory[word: Self.records + Int(position % Self.capacity)] }
    nonmutating set { memory[word: Self.records + Int(position % Self.capacity)] = newValue }
  }

  /// Empties the ring, so that no map made before can be brought up to date.
  func raiseEpoch() {
    memory[word: Self.base] = epoch &+ 1
    first = end
  }

  /// Forgets the content of the ring, which may be anything. The caller rebuilds the block and must be alone.
  func clear() {
    end = 0
    raiseEpoch()
  }

  /// Appends what a commit did, and drops the oldest records if their room is needed.
  func append(_ record: Record) {
    guard record.changes.count <= Self.mostPages else { return raiseEpoch() }
    if end &- first > Self.capacity || end > UInt64.max / 2 { clear() }
    let words = Self.header + UInt64(record.changes.count)
    while first < end, end + words - first > Self.capacity {
      let count = self[first + 2]
      guard count <= UInt64(Self.mostPages) else { return clear() }
      first += Self.header + count
    }
    self[end] = record.version
    self[end + 1] = record.before
    self[end + 2] = UInt64(record.changes.count)
    for (index, change) in record.changes.enumerated() {
      self[end + Self.header + UInt64(index)] = change.word
    }
    end += words
  }

  /// The records that lead from one version to another, oldest first; nil if some of them are not there any more.
  func records(from version: UInt64, to newest: UInt64) -> [Record]? {
    if version == newest { return [] }
    var found: [Record] = []
    var expected = version
    var position = first
    guard end &- first <= Self.capacity, end <= UInt64.max / 2 else { return nil }
    while position < end {
      let count = self[position + 2]
      guard count <= UInt64(Self.mostPages), position + Self.header + count <= end else { return nil }
      if self[position + 1] == expected {
        let changes = (0..<count).map { Change(word: self[position + Self.header + $0]) }
        found.append(Record(version: self[position], before: expected, changes: changes))
        expected = self[position]
        if expected == newest { return found }
      } else if !found.isEmpty {
        return nil
      }
      position += Self.header + count
    }
    return nil
  }
}
