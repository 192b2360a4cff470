import RealmStorage

/// The record of an object, an embedded object or a collection.
struct SlotRecord: Equatable {
  /// The decision that emptied or removed it. If there are several, the one with the latest stamp.
  var kill: MergeRecord?
  /// The decision that made it.
  var created: MergeRecord?
}

/// An addition to a number since the number was set last. It may have to be added to a value that arrives late.
struct AddRecord: Equatable {
  var record: MergeRecord
  var delta: Int64
}

/// The records of one object, as the merging of a changeset reads and changes them. Changes stay in memory until
/// `store`. Without `store` they are lost.
final class ObjectRecords {
  private let tree: WritableTree
  /// The key of the object, with which all its keys begin.
  private let prefix: [UInt8]
  /// The record of the object itself, and those of its properties that hold one value each.
  private(set) var head: HeadRecord
  private var isHeadChanged = false
  private var changed: [[UInt8]: Change] = [:]
  /// The beginnings of keys that were cleared, with the turns that this began. What was set below such a beginning in
  /// earlier turns, or is stored there, does not count any more. So clearing takes no time in proportion to what is
  /// forgotten.
  private var cleared: [[UInt8]: Int] = [:]
  /// The lengths of the keys of `cleared`.
  private var clearedLengths: Set<Int> = []
  /// The number of the present turn. It is 0 until something is cleared, and grows by 1 each time.
  private var turn = 0
  private var lists: [[UInt8]: (records: ListRecords, turn: Int)] = [:]
  /// The changes of additions, by place. A value that is set looks only at these among the additions that were changed
  /// in memory.
  private var changedAdds: [[UInt8]: ChangedAdds] = [:]

  private struct ChangedAdds {
    /// The keys of the additions that were added or changed and still count.
    var keys: Set<[UInt8]> = []
    /// The stamp before which all additions are forgotten.
    var forgotten: Stamp?
  }

  private struct Change {
    /// The new value; nil if the record is removed.
    var value: [UInt8]?
    var turn: Int
  }

  /// - Parameter object: the key of the object (`EditedObject.key`).
  init(_ object: [UInt8], in tree: WritableTree) throws(StorageError) {
    (self.tree, prefix) = (tree, object)
    let stored = try tree.value(for: object)
    guard let head = stored.map({ HeadRecord($0) }) ?? HeadRecord() else { throw tree.damaged }
    self.head = head
  }

  // MARK: - The object

  func setHead(_ change: (inout HeadRecord) -> Void) {
    change(&head)
    isHeadChanged = true
  }

  // MARK: - Places

  func slot(_ place: [UInt8]) throws(StorageError) -> SlotRecord {
    guard let bytes = try value(place + [RecordKey.Tag.slot]) else { return SlotRecord() }
    guard let record = SlotRecord(bytes) else { throw tree.damaged }
    return record
  }

  func set(_ record: SlotRecord, at place: [UInt8]) { set(record.bytes, for: place + [RecordKey.Tag.slot]) }

  func register(_ place: EditedPlace) throws(StorageError) -> MergeRecord? {
    if let column = place.property { return head.registers[column] }
    return try record(place.key + [RecordKey.Tag.register])
  }

  func set(_ record: MergeRecord?, of place: EditedPlace) {
    if let column = place.property { return setHead { $0.registers[column] = record } }
    set(record.map { $0.bytes }, for: place.key + [RecordKey.Tag.register])
  }

  /// The additions to a number, in no particular order.
  ///
  /// - Parameter first: additions with an earlier stamp are left out; nil for all. The call takes time in proportion to
  ///   the other additions, and to those that were added since the records were stored.
  func adds(_ place: EditedPlace, from first: Stamp?) throws(StorageError) -> [AddRecord] {
    try addsInOneValue(place).filter { $0.record.stamp >= first ?? $0.record.stamp }
      + storedApart(place, from: first).map(\.add)
  }

  /// Records what a changeset adds to a number. All additions of a changeset to a number become one sum. Takes O(log n)
  /// for n additions.
  func add(_ delta: Int64, _ record: MergeRecord, to place: EditedPlace) throws(StorageError) {
    let key = place.key + [RecordKey.Tag.add] + record.addKey
    var sum = delta
    if let known = try value(key) {
      guard let known = Self.delta(known) else { throw tree.damaged }
      sum &+= known
    }
    var bytes: [UInt8] = []
    bytes.appendInteger(sum)
    changedAdds[place.key, default: ChangedAdds()].keys.insert(key)
    set(bytes, for: key)
    // The next value that is set has to find this addition, though its stamp is as old as those of the forgotten ones.
    if let last = changedAdds[place.key]?.forgotten, record.stamp <= last {
      changedAdds[place.key]?.forgotten = nil
    }
  }

  /// Forgets the additions to a number, except those that count as later than a value that is set now.
  ///
  /// - Parameter last: additions with an earlier stamp never count as later.
  func forgetAdds(
    _ place: EditedPlace, upTo last: Stamp, unless isLater: (AddRecord) -> Bool
  ) throws(StorageError) {
    let old = try addsInOneValue(place)
    let kept = old.filter(isLater)
    if kept.count < old.count {
      set(kept.isEmpty ? nil : kept.bytes, for: place.key + [RecordKey.Tag.adds])
    }
    // A value that was set before has looked at the additions up to this stamp.
    let first = changedAdds[place.key]?.forgotten
    if let first, first > last { return }
    let forgotten = try storedApart(place, from: first, to: last).filter { !isLater($0.add) }
    guard !forgotten.isEmpty else { return }
    for (key, _) in forgotten {
      changedAdds[place.key]?.keys.remove(key)
      set(nil, for: key)
    }
    changedAdds[place.key, default: ChangedAdds()].forgotten = last
  }

  /// The additions to a number that earlier versions of the library have stored in one value.
  private func addsInOneValue(_ place: EditedPlace) throws(StorageError) -> [AddRecord] {
    guard let bytes = try value(place.key + [RecordKey.Tag.adds]) else { return [] }
    guard let adds = [AddRecord](bytes) else { throw tree.damaged }
    return adds
  }

  private static func delta(_ bytes: [UInt8]) -> Int64? {
    var reader = ByteReader(bytes)
    guard let delta = reader.integer(Int64.self), reader.isAtEnd else { return nil }
    return delta
  }

  /// The additions to a number that have keys of their own, with these keys, in no particular order.
  ///
  /// - Parameters: additions with an earlier stamp than `first`, or a later stamp than `last`, are left out.
  private func storedApart(
    _ place: EditedPlace, from first: Stamp?, to last: Stamp? = nil
  ) throws(StorageError) -> [(key: [UInt8], add: AddRecord)] {
    let start = place.key + [RecordKey.Tag.add]
    var found: [(key: [UInt8], add: AddRecord)] = []
    func take(_ key: [UInt8], _ record: MergeRecord, _ value: [UInt8]) throws(StorageError) {
      guard let delta = Self.delta(value) else { throw tree.damaged }
      found.append((key, AddRecord(record: record, delta: delta)))
    }
    for key in changedAdds[place.key]?.keys ?? [] {
      let record = MergeRecord(addKey: key[start.count...])
      guard record.stamp >= first ?? record.stamp, record.stamp <= last ?? record.stamp,
        let change = changed[key], let value = change.value, !isForgotten(key, change.turn)
      else { continue }
      try take(key, record, value)
    }
    var least = prefix + start
    if let first { least.appendHighestFirst(first.word) }
    let damaged = tree.damaged
    try tree.forEach(from: least) { (stored, value) throws(StorageError) in
      guard stored.starts(with: prefix + start) else { return false }
      let key = Array(stored[prefix.count...])
      guard key.count == start.count + MergeRecord.addKeyLength else { throw damaged }
      let record = MergeRecord(addKey: key[start.count...])
      guard record.stamp <= last ?? record.stamp else { return false }
      if changed[key] == nil, !isForgotten(key, 0) { try take(key, record, value) }
      return true
    }
    return found
  }

  func member(_ member: [UInt8], ofSet place: [UInt8]) throws(StorageError) -> MergeRecord? {
    try record(place + [RecordKey.Tag.member] + member)
  }

  func set(_ record: MergeRecord, ofMember member: [UInt8], inSet place: [UInt8]) {
    set(record.bytes, for: place + [RecordKey.Tag.member] + member)
  }

  func list(_ place: [UInt8]) -> ListRecords {
    if let known = lists[place], !isForgotten(place, known.turn) { return known.records }
    let made = ListRecords(place, self)
    lists[place] = (made, turn)
    return made
  }

  private func record(_ key: [UInt8]) throws(StorageError) -> MergeRecord? {
    guard let bytes = try value(key) else { return nil }
    guard let record = MergeRecord(bytes) else { throw tree.damaged }
    return record
  }

  private func value(_ key: [UInt8]) throws(StorageError) -> [UInt8]? {
    if let change = changed[key], !isForgotten(key, change.turn) { return change.value }
    if isForgotten(key, 0) { return nil }
    return try tree.value(for: prefix + key)
  }

  private func set(_ value: [UInt8]?, for key: [UInt8]) { changed[key] = Change(value: value, turn: turn) }

  // MARK: - Forgetting

  /// Forgets all records of a place and of everything in it.
  func clear(_ place: [UInt8]) {
    turn += 1
    cleared[place] = turn
    clearedLengths.insert(place.count)
    if place.isEmpty { setHead { $0.registers.removeAll() } }
  }

  /// Forgets the records of an element that holds one value.
  func clearElement(_ place: EditedPlace) throws(StorageError) {
    for part in [RecordKey.Tag.register, RecordKey.Tag.adds] { set(nil, for: place.key + [part]) }
    for (key, _) in try storedApart(place, from: nil) { set(nil, for: key) }
    changedAdds[place.key] = nil
  }

  /// True if what was set for a key in a turn was cleared since. Turn 0 stands for what is stored.
  private func isForgotten(_ key: [UInt8], _ turn: Int) -> Bool {
    guard turn < self.turn else { return false }
    for length in clearedLengths where length <= key.count {
      if let last = cleared[Array(key[..<length])], last > turn { return true }
    }
    return false
  }

  // MARK: - Storing

  func store() throws(StorageError) {
    lists = lists.filter { !isForgotten($0.key, $0.value.turn) }
    for list in lists.values { list.records.store() }
    for place in cleared.keys {
      let start = prefix + place
      var keys: [[UInt8]] = []
      try tree.forEach(from: start) { (key, _) in
        guard key.starts(with: start) else { return false }
        // The record of the object itself is written separately.
        if key.count > prefix.count { keys.append(key) }
        return true
      }
      for key in keys { try tree.removeValue(for: key) }
    }
    for (key, change) in changed where !isForgotten(key, change.turn) {
      if let value = change.value {
        try tree.set(value, for: prefix + key)
      } else {
        try tree.removeValue(for: prefix + key)
      }
    }
    if isHeadChanged {
      if head == HeadRecord() {
        try tree.removeValue(for: prefix)
      } else {
        try tree.set(head.bytes, for: prefix)
      }
    }
    cleared.removeAll()
    clearedLengths.removeAll()
    changed.removeAll()
    changedAdds.removeAll()
    isHeadChanged = false
  }
}

/// The records of lists.
extension ObjectRecords {
  private func key(_ place: [UInt8], _ part: UInt8, _ id: ElementID) -> [UInt8] {
    var key = place + [part]
    key.appendHighestFirst(id.stored)
    return key
  }

  func positions(of element: ElementID, inList place: [UInt8]) throws(StorageError) -> [ListPosition] {
    guard let bytes = try value(key(place, RecordKey.Tag.position, element)) else { return [] }
    guard let positions = [ListPosition](bytes, of: element) else { throw tree.damaged }
    return positions
  }

  func element(ofPosition id: ElementID, inList place: [UInt8]) throws(StorageError) -> ElementID? {
    guard let bytes = try value(key(place, RecordKey.Tag.moved, id)) else { return nil }
    guard let links = [ListRecords.Link](bytes), let link = links.first else { throw tree.damaged }
    return link.element
  }

  func chain(_ anchor: ElementID, inList place: [UInt8]) throws(StorageError) -> [ListRecords.Link] {
    guard let bytes = try value(key(place, RecordKey.Tag.chain, anchor)) else { return [] }
    guard let links = [ListRecords.Link](bytes) else { throw tree.damaged }
    return links
  }

  func store(_ positions: [ListPosition], of element: ElementID, inList place: [UInt8]) {
    set(positions.isEmpty ? nil : positions.bytes, for: key(place, RecordKey.Tag.position, element))
  }

  func store(_ element: ElementID, ofPosition id: ElementID, inList place: [UInt8]) {
    set([ListRecords.Link(element: element, id: id)].bytes, for: key(place, RecordKey.Tag.moved, id))
  }

  func store(_ chain: [ListRecords.Link], behind anchor: ElementID, inList place: [UInt8]) {
    set(chain.isEmpty ? nil : chain.bytes, for: key(place, RecordKey.Tag.chain, anchor))
  }
}
