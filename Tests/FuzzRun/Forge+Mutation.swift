import RealmStorage
import RealmTestSupport

extension Forge {
  /// The fields of a ref's place. Bits 42 to 56 are the length, and the bits below them are the unit. Bit 41 says that
  /// a node lies in memory.
  private static let lengthBits = UInt64(0x7fff) << 42
  private static let unitBits = (UInt64(1) << 42) - 1

  /// Makes one random change, and makes the checksums fit.
  mutating func mutate(_ generator: inout SeededGenerator) {
    let index = generator.below(nodes.count)
    switch generator.below(10) {
    case 0: changeLength(index, &generator)
    case 1: changeHeader(index, &generator)
    case 2: changeIdentity(index, &generator)
    case 3, 4: changeFirstWords(index, &generator)
    case 5: changeBytes(index, &generator)
    case 6: changeWord(index, &generator)
    case 7: changePlace(index, &generator)
    case 8: nameAnother(index, &generator)
    default: changeMetaPage(&generator)
    }
  }

  /// Changes the length in the header, and mostly in the ref, too.
  private mutating func changeLength(_ index: Int, _ generator: inout SeededGenerator) {
    let node = nodes[index]
    let words: Int
    switch generator.below(4) {
    case 0: words = generator.below(8)
    case 1: words = max(0, node.ref.length / 8 - 4 + generator.below(8))
    case 2: words = 0x7fff - generator.below(3)
    default: words = generator.below(0x8000)
    }
    store(UInt32(8 * words + 8), at: node.start + Header.length)
    if generator.chance(80) {
      let unit = node.ref.place & ~Self.lengthBits
      store(unit | (UInt64(words) << 42), at: node.slot)
    }
    vouch(for: index)
  }

  private mutating func changeHeader(_ index: Int, _ generator: inout SeededGenerator) {
    let value = UInt16(truncatingIfNeeded: extremeValue(&generator))
    let field = generator.chance(80) ? Header.refCount : Header.reserved
    store(value, at: nodes[index].start + field)
    vouch(for: index)
  }

  /// Changes the birth, the kind and the level, in the header, in the ref or in both.
  private mutating func changeIdentity(_ index: Int, _ generator: inout SeededGenerator) {
    let node = nodes[index]
    let birth = generator.chance(50) ? node.ref.birth : extremeValue(&generator) & Ref.maximumBirth
    let kind = generator.chance(50) ? node.ref.rawKind : UInt8(generator.below(12))
    let level = generator.chance(50) ? node.ref.level : UInt8(truncatingIfNeeded: extremeValue(&generator))
    let identity = birth | (UInt64(kind) << 48) | (UInt64(level) << 56)
    if generator.chance(90) { store(identity, at: node.start + Header.identity) }
    if generator.chance(90) { store(identity, at: node.slot + 8) }
    vouch(for: index)
  }

  /// Changes the counts and widths with which most bodies begin.
  private mutating func changeFirstWords(_ index: Int, _ generator: inout SeededGenerator) {
    let body = nodes[index].body
    for _ in 0...generator.below(2) {
      let offset = body.lowerBound + 2 * generator.below(8)
      guard offset + 2 <= body.upperBound else { continue }
      store(UInt16(truncatingIfNeeded: extremeValue(&generator)), at: offset)
    }
    vouch(for: index)
  }

  private mutating func changeBytes(_ index: Int, _ generator: inout SeededGenerator) {
    let body = nodes[index].body
    guard !body.isEmpty else { return }
    for _ in 0...generator.below(8) {
      let offset = body.lowerBound + generator.below(body.count)
      store(UInt8(truncatingIfNeeded: generator.next()), at: offset)
    }
    vouch(for: index)
  }

  private mutating func changeWord(_ index: Int, _ generator: inout SeededGenerator) {
    let body = nodes[index].body
    let words = body.count / 8
    guard words > 0 else { return }
    store(extremeValue(&generator), at: body.lowerBound + 8 * generator.below(words))
    vouch(for: index)
  }

  /// Changes the place in a ref so that it lies between other nodes, in the middle of one, in the meta pages, or
  /// outside of the file.
  private mutating func changePlace(_ index: Int, _ generator: inout SeededGenerator) {
    let node = nodes[index]
    let unit: UInt64
    switch generator.below(5) {
    case 0: unit = UInt64(generator.below(bytes.count / Ref.unit))
    case 1: unit = node.ref.unit &+ UInt64(generator.below(8))
    case 2: unit = nodes[generator.below(nodes.count)].ref.unit
    case 3: unit = UInt64(generator.below(2 * FilePlace.unitsPerPage))
    default: unit = extremeValue(&generator)
    }
    let length = node.ref.place & Self.lengthBits
    store((unit & Self.unitBits) | length, at: node.slot)
    if generator.chance(70) { vouchForTarget(of: node.slot) }
    if let parent = node.parent { vouch(for: parent) } else { changeMeta(Meta.root) { $0 } }
  }

  /// Replaces a ref with a valid ref of another node.
  private mutating func nameAnother(_ index: Int, _ generator: inout SeededGenerator) {
    let other = nodes[generator.below(nodes.count)].ref
    if generator.chance(70) {
      replace(index, with: other)
    } else {
      redirect(index, to: other)
    }
  }

  private mutating func changeMetaPage(_ generator: inout SeededGenerator) {
    let value = extremeValue(&generator)
    let field =
      generator.chance(70) ? Meta.flags + 8 * generator.below(10) : 8 * generator.below(Meta.checksum / 8)
    let first = generator.below(2)
    let isFlip = generator.chance(50)
    changeMeta(field, pages: generator.chance(50) ? 0..<2 : first..<first + 1) { isFlip ? $0 ^ value : value }
  }
}
