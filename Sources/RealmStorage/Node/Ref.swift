/// The place of a node, its length, its birth and the checksum or tag of its content.
///
/// A ref stands in the parent node and has all that is needed to trust the child, so a root's ref vouches for a whole
/// version. In the file a ref takes 24 bytes, or 32 if nodes are sealed (FORMAT.md, "Refs"):
///
///     offset  size  field
///          0     8  place      bits 0–40 offset in units of 64 bytes, bit 41 zero in files,
///                              bits 42–56 length in words of 8 bytes, less one; the rest zero
///          8     8  identity   bits 0–47 birth, 48–55 node kind, 56–63 level
///         16     8  checksum   of the node's bytes; sealed: the first half of the tag
///         24     8             sealed only: the second half of the tag
package struct Ref: Hashable, Sendable, BitwiseCopyable {
  package var place: UInt64
  package var identity: UInt64
  package var check: UInt64
  package var check2: UInt64

  package init(place: UInt64, identity: UInt64, check: UInt64, check2: UInt64) {
    self.place = place
    self.identity = identity
    self.check = check
    self.check2 = check2
  }

  /// The ref of no node: the root of an empty tree.
  package static let null = Ref(place: 0, identity: 0, check: 0, check2: 0)

  /// The number of bytes of a unit. Each node starts at a multiple of it.
  package static let unit = 64
  /// The longest node, in bytes of content.
  package static let maximumLength = 256 * 1024
  package static let maximumBirth = UInt64(1) << 48 - 1

  /// The greatest level of a well-formed ref. It is far above the needs of any tree, and far enough below the greatest
  /// value of a byte that no change of a file exceeds that.
  static let maximumLevel: UInt8 = 128

  static let unitMask = UInt64(1) << 41 - 1
  static let dirtyBit = UInt64(1) << 41
  static let unusedPlaceBits = ~(UInt64(1) << 57 - 1)

  init(unit: UInt64, length: Int, identity: UInt64, dirty: Bool) {
    place = unit | (dirty ? Self.dirtyBit : 0) | UInt64(length / 8 - 1) << 42
    self.identity = identity
    check = 0
    check2 = 0
  }

  package static func identity(birth: UInt64, kind: NodeKind, level: UInt8) -> UInt64 {
    birth | UInt64(kind.rawValue) << 48 | UInt64(level) << 56
  }

  package var isNull: Bool { place == 0 && identity == 0 }
  /// True if the node lies in a transaction's arena, not in the file.
  package var isDirty: Bool { place & Self.dirtyBit != 0 }
  /// The place in units of 64 bytes, in the file or in the arena.
  package var unit: UInt64 { place & Self.unitMask }
  package var offset: UInt64 { unit * UInt64(Self.unit) }
  /// The number of bytes of the node's content, a multiple of 8.
  package var length: Int { (Int(truncatingIfNeeded: place >> 42) & 0x7fff) * 8 + 8 }
  /// The version that wrote the node.
  package var birth: UInt64 { identity & Self.maximumBirth }
  package var rawKind: UInt8 { UInt8(truncatingIfNeeded: identity >> 48) }
  package var kind: NodeKind? { NodeKind(rawValue: rawKind) }
  /// The level: 0 for a node without refs, else greater than the level of each node below it.
  package var level: UInt8 { UInt8(truncatingIfNeeded: identity >> 56) }

  /// True if the format allows this ref in a file.
  var isWellFormed: Bool {
    place & (Self.unusedPlaceBits | Self.dirtyBit) == 0 && kind != nil && birth > 0
      && level <= Self.maximumLevel
  }
}

/// The number of bytes that a ref takes in a file.
package struct RefWidth: Sendable, Equatable {
  package let bytes: Int
  package static let plain = RefWidth(bytes: 24)
  package static let sealed = RefWidth(bytes: 32)
}
