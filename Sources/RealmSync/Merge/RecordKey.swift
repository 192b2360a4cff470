import RealmStorage

/// The keys of records: that of the object (`EditedObject.key`), that of the place in it (`EditedPlace.key`), and what is recorded of the place.
struct RecordKey {
  /// The bytes behind the key of a place.
  enum Tag {
    static let slot: UInt8 = 16
    static let register: UInt8 = 17
    static let adds: UInt8 = 18
    /// Followed by the name of the member.
    static let member: UInt8 = 19
    /// These three are followed by the id of an element, an element or a position.
    static let position: UInt8 = 20
    static let chain: UInt8 = 21
    static let moved: UInt8 = 22
  }

  enum Part: Equatable {
    /// Of the object itself.
    case head
    case slot
    case register
    case adds
    case member
    case position(ElementID)
    case chain
    case moved
  }

  let part: Part
  /// The keys of the object and the place.
  let list: [UInt8]

  /// Nil for bytes that are none.
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
    default: return nil
    }
  }
}
