import Testing

@testable import RealmStorage

@Suite struct RefTests {
  private static let units: [UInt64] = [0, 1, 128, (1 << 41) - 1]
  private static let lengths = [8, 16, 4096, Ref.maximumLength]
  private static let births: [UInt64] = [1, 1 << 32, (1 << 48) - 1]
  private static let levels: [UInt8] = [0, 1, 128, 255]

  @Test(arguments: NodeKind.allCases)
  func `a ref returns the fields that it was made of`(kind: NodeKind) {
    for birth in Self.births {
      for level in Self.levels {
        let identity = Ref.identity(birth: birth, kind: kind, level: level)
        for unit in Self.units {
          for length in Self.lengths {
            for dirty in [false, true] {
              let ref = Ref(unit: unit, length: length, identity: identity, dirty: dirty)
              #expect(ref.unit == unit)
              #expect(ref.offset == unit * 64)
              #expect(ref.length == length)
              #expect(ref.isDirty == dirty)
              #expect(ref.birth == birth)
              #expect(ref.kind == kind)
              #expect(ref.level == level)
              #expect(ref.isWellFormed == (!dirty && level <= 128))
              #expect(!ref.isNull)
            }
          }
        }
      }
    }
  }

  @Test func `the fields of a ref stand at the places that the format gives`() {
    let identity = Ref.identity(birth: 3, kind: .branch, level: 2)
    let ref = Ref(unit: 5, length: 24, identity: identity, dirty: false)
    #expect(identity == 0x0203_0000_0000_0003)
    #expect(ref.place == 5 | 2 << 42)
    let last = Ref(unit: (1 << 41) - 1, length: Ref.maximumLength, identity: identity, dirty: true)
    #expect(last.place == (1 << 57) - 1)
    #expect(Ref.maximumBirth == (1 << 48) - 1)
  }

  @Test func `a ref that the format does not allow is not well formed`() {
    let identity = Ref.identity(birth: 3, kind: .leaf, level: 0)
    let good = Ref(unit: 200, length: 64, identity: identity, dirty: false)
    #expect(good.isWellFormed)
    for bit in 57..<64 {
      var ref = good
      ref.place |= UInt64(1) << UInt64(bit)
      #expect(!ref.isWellFormed, "bit \(bit)")
    }
    for kind in [UInt64(0), 255] {
      var ref = good
      ref.identity = 3 | kind << 48
      #expect(!ref.isWellFormed, "kind \(kind)")
    }
    var unborn = good
    unborn.identity = Ref.identity(birth: 0, kind: .leaf, level: 0)
    #expect(!unborn.isWellFormed)
    #expect(Ref.null.isNull)
    #expect(!Ref.null.isWellFormed)
  }
}
