import RealmStorage

/// The record of an object itself, and those of its properties that hold one value each.
struct HeadRecord: Equatable {
  var slot = SlotRecord()
  /// The records of the properties, by the ids of their columns.
  var registers: [UInt16: MergeRecord] = [:]

  init() {}

  /// The record in stored bytes; nil if they are damaged.
  init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard let slot = SlotRecord(&reader) else { return nil }
    self.slot = slot
    while !reader.isAtEnd {
      guard let record = MergeRecord(&reader), let count = reader.varint(), count <= UInt64(reader.count)
      else { return nil }
      for _ in 0..<count {
        guard let property = reader.varint(), let column = UInt16(exactly: property >> 1) else { return nil }
        var register = record
        register.isDefault = property & 1 != 0
        registers[column] = register
      }
    }
  }

  /// The bytes of the record. Few changesets decide most properties, so each decision stands once, with the properties
  /// that it decided.
  var bytes: [UInt8] {
    var bytes = slot.bytes
    var left = registers.sorted { $0.key < $1.key }
    while let first = left.first?.value {
      let isSame = { (other: MergeRecord) in
        other.version == first.version && other.stamp == first.stamp && other.replica == first.replica
      }
      first.append(to: &bytes)
      bytes.appendVarint(UInt64(left.count { isSame($0.value) }))
      for (column, record) in left where isSame(record) {
        bytes.appendVarint(UInt64(column) << 1 | (record.isDefault ? 1 : 0))
      }
      left.removeAll { isSame($0.value) }
    }
    return bytes
  }
}

extension MergeRecord {
  /// The record in stored bytes; nil if they are damaged.
  init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    self.init(&reader)
    guard reader.isAtEnd else { return nil }
  }

  fileprivate init?(_ reader: inout ByteReader) {
    guard let stamp = reader.integer(UInt64.self), let version = reader.varint(), let flags = reader.varint(),
      let replica = UInt32(exactly: flags >> 1)
    else { return nil }
    self.init(
      stamp: Stamp(word: stamp), replica: replica, version: version, isDefault: flags & 1 != 0)
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }

  fileprivate func append(to bytes: inout [UInt8]) {
    bytes.appendInteger(stamp.word)
    bytes.appendVarint(version)
    bytes.appendVarint(UInt64(replica) << 1 | (isDefault ? 1 : 0))
  }
}

extension SlotRecord {
  /// The record in stored bytes; nil if they are damaged.
  init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    self.init(&reader)
    guard reader.isAtEnd else { return nil }
  }

  fileprivate init?(_ reader: inout ByteReader) {
    guard let flags = reader.integer(UInt8.self), flags < 4 else { return nil }
    if flags & 1 != 0 {
      guard let record = MergeRecord(&reader) else { return nil }
      kill = record
    }
    if flags & 2 != 0 {
      guard let record = MergeRecord(&reader) else { return nil }
      created = record
    }
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = [(kill == nil ? 0 : 1) | (created == nil ? 0 : 2)]
    kill?.append(to: &bytes)
    created?.append(to: &bytes)
    return bytes
  }
}

extension [AddRecord] {
  /// The additions in stored bytes; nil if they are damaged.
  init?(_ bytes: [UInt8]) {
    self = []
    var reader = ByteReader(bytes)
    while !reader.isAtEnd {
      guard let record = MergeRecord(&reader), let delta = reader.integer(Int64.self) else { return nil }
      append(AddRecord(record: record, delta: delta))
    }
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for add in self {
      add.record.append(to: &bytes)
      bytes.appendInteger(add.delta)
    }
    return bytes
  }
}

extension [ListRecords.Link] {
  /// The links in stored bytes; nil if they are damaged.
  init?(_ bytes: [UInt8]) {
    self = []
    var reader = ByteReader(bytes)
    while !reader.isAtEnd {
      guard let element = reader.integer(UInt64.self), let id = reader.integer(UInt64.self) else {
        return nil
      }
      append(ListRecords.Link(element: ElementID(stored: element), id: ElementID(stored: id)))
    }
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for link in self {
      bytes.appendInteger(link.element.stored)
      bytes.appendInteger(link.id.stored)
    }
    return bytes
  }
}

extension [ListPosition] {
  private enum Flag {
    static let record: UInt8 = 1
    static let isLeftOfParent: UInt8 = 2
    static let hasEnded: UInt8 = 4
    static let all: UInt8 = 7
  }

  /// The positions in stored bytes; nil if they are damaged.
  init?(_ bytes: [UInt8], of element: ElementID) {
    self = []
    var reader = ByteReader(bytes)
    while !reader.isAtEnd {
      guard let flags = reader.integer(UInt8.self), flags <= Flag.all, let id = reader.integer(UInt64.self),
        let parent = reader.integer(UInt64.self), let left = reader.integer(UInt64.self)
      else { return nil }
      var position = ListPosition(element: element, id: ElementID(stored: id))
      position.parent = ElementID(stored: parent)
      position.left = ElementID(stored: left)
      position.isLeftOfParent = flags & Flag.isLeftOfParent != 0
      if flags & Flag.record != 0 {
        guard let record = MergeRecord(&reader) else { return nil }
        position.record = record
      }
      if flags & Flag.hasEnded != 0 {
        guard let end = reader.varint(), let anchor = reader.integer(UInt64.self) else { return nil }
        position.end = end
        position.anchor = ElementID(stored: anchor)
      }
      append(position)
    }
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for position in self {
      bytes.append(
        (position.record == nil ? 0 : Flag.record) | (position.isLeftOfParent ? Flag.isLeftOfParent : 0)
          | (position.end == nil ? 0 : Flag.hasEnded))
      for id in [position.id, position.parent, position.left] { bytes.appendInteger(id.stored) }
      position.record?.append(to: &bytes)
      guard let end = position.end else { continue }
      bytes.appendVarint(end)
      bytes.appendInteger(position.anchor.stored)
    }
    return bytes
  }
}
