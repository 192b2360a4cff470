import RealmStorage

/// The key of a record: the key of the object (`EditedObject.key`), the key of the place in it (`EditedPlace.key`), and
/// the kind of the record.
struct RecordKey {
  /// The bytes behind the key of a place.
  enum Tag {
    static let slot: UInt8 = 16
    static let register: UInt8 = 17
    /// All additions in one value, as earlier versions of the library have stored them.
    static let adds: UInt8 = 18
    /// The tag is followed by the hash that names the member.
    static let member: UInt8 = 19
    /// The tags `position` and `chain` are followed by the id of an element, `moved` by the id of a position.
    static let position: UInt8 = 20
    static let chain: UInt8 = 21
    static let moved: UInt8 = 22
    /// The tag is followed by the decision: a stamp (8), a replica (4) and a version (8), each with the highest byte
    /// first.
    static let add: UInt8 = 23
  }

  enum Part: Equatable {
    /// The record of the object itself.
    case head
    case slot
    case register
    case adds
    case add(MergeRecord)
    case member
    case position(ElementID)
    case chain
    case moved
  }

  let part: Part
  /// The keys of the object and the place.
  let list: [UInt8]

  /// The result is nil for bytes that are not the key of a record.
  init?(_ bytes: [UInt8]) {
    guard let place = EditedPlace.keyLength(in: bytes) else { return nil }
    list = Array(bytes[..<place])
    let rest = bytes[place...]
    let id = ElementID(stored: rest.dropFirst().reduce(0) { $0 << 8 | UInt64($1) })
    switch (rest.first, rest.count) {
    case (nil, _): part = .head
    case (Tag.slot, 1): part = .slot
    case (Tag.register, 1): part = .register
    case (Tag.adds, 1): part = .adds
    case (Tag.member, _): part = .member
    case (Tag.position, 9): part = .position(id)
    case (Tag.chain, 9): part = .chain
    case (Tag.moved, 9): part = .moved
    case (Tag.add, 1 + MergeRecord.addKeyLength): part = .add(MergeRecord(addKey: rest.dropFirst()))
    default: return nil
    }
  }
}

extension MergeRecord {
  /// The bytes of the decision in the key of an addition. They order the keys by stamps.
  var addKey: [UInt8] {
    var key: [UInt8] = []
    key.appendHighestFirst(stamp.word)
    key.appendHighestFirst(replica)
    key.appendHighestFirst(version)
    return key
  }

  /// The number of bytes of `addKey`.
  static let addKeyLength = 20

  /// - Precondition: there are `addKeyLength` bytes.
  init(addKey bytes: ArraySlice<UInt8>) {
    func number(_ start: Int, _ count: Int) -> UInt64 {
      bytes.dropFirst(start).prefix(count).reduce(0) { $0 << 8 | UInt64($1) }
    }
    self.init(stamp: Stamp(word: number(0, 8)), replica: UInt32(number(8, 4)), version: number(12, 8))
  }
}
