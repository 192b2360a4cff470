import RealmStorage

/// The records of all objects, in a tree of the file. They tell what changesets have decided since the horizon.
package struct MergeRecords {
  package let tree: WritableTree
  package static let treeName = "sync.records"

  package init(_ transaction: WriteTransaction) throws(StorageError) {
    tree = try transaction.tree(Self.treeName)
  }

  /// True if an object of a table has a record. The keys of its records begin with the id of the table.
  package func hasAny(ofTable id: UInt32) throws(StorageError) -> Bool {
    var first: [UInt8] = []
    first.appendHighestFirst(id)
    var found = false
    try tree.forEach(from: first) { (key, _) in
      found = key.starts(with: first)
      return false
    }
    return found
  }

  /// Forgets the decisions up to a version, because every writer has seen them. Takes time in proportion to all
  /// records.
  package func trim(to horizon: UInt64) throws(StorageError) {
    var changes: [(key: [UInt8], value: [UInt8]?)] = []
    /// The ended positions of one list that are kept.
    var ended: (list: [UInt8], links: Set<[UInt8]>) = ([], [])
    let damaged = tree.damaged
    try tree.forEach { (key, value) throws(StorageError) in
      guard let place = RecordKey(key) else { throw damaged }
      var left: [UInt8]?
      switch place.part {
      case .head:
        guard var head = HeadRecord(value) else { throw damaged }
        head.trim(horizon)
        left = head == HeadRecord() ? nil : head.bytes
      case .slot:
        guard var slot = SlotRecord(value) else { throw damaged }
        slot.trim(horizon)
        left = slot == SlotRecord() ? nil : slot.bytes
      case .register, .member:
        guard let record = MergeRecord(value) else { throw damaged }
        left = record.version > horizon ? value : nil
      case .adds:
        guard let adds = [AddRecord](value) else { throw damaged }
        let kept = adds.filter { $0.record.version > horizon }
        left = kept.isEmpty ? nil : kept.bytes
      case .add(let record): left = record.version > horizon ? value : nil
      case .position(let element):
        guard let positions = [ListPosition](value, of: element) else { throw damaged }
        let kept = positions.compactMap { $0.trimmed(horizon) }
        if ended.list != place.list { ended = (place.list, []) }
        for position in kept where !position.isInForce {
          ended.links.insert([ListRecords.Link(element: element, id: position.id)].bytes)
        }
        left = kept.isEmpty ? nil : kept.bytes
      case .chain:
        guard let links = [ListRecords.Link](value) else { throw damaged }
        let kept = links.filter { ended.list == place.list && ended.links.contains([$0].bytes) }
        left = kept.isEmpty ? nil : kept.bytes
      case .moved:
        guard let link = [ListRecords.Link](value)?.first else { throw damaged }
        // The list itself has the element of a position in force.
        left = ended.list == place.list && ended.links.contains([link].bytes) ? value : nil
      }
      if left != value { changes.append((key, left)) }
      return true
    }
    for (key, value) in changes {
      if let value { try tree.set(value, for: key) } else { try tree.removeValue(for: key) }
    }
  }
}

extension HeadRecord {
  fileprivate mutating func trim(_ horizon: UInt64) {
    slot.trim(horizon)
    registers = registers.filter { $0.value.version > horizon }
  }
}

extension SlotRecord {
  fileprivate mutating func trim(_ horizon: UInt64) {
    if let version = kill?.version, version <= horizon { kill = nil }
    if let version = created?.version, version <= horizon { created = nil }
  }
}

extension ListPosition {
  fileprivate func trimmed(_ horizon: UInt64) -> ListPosition? {
    if let end, end <= horizon { return nil }
    var position = self
    if let version = record?.version, version <= horizon { position.record = nil }
    return position.record == nil && position.isInForce ? nil : position
  }
}
