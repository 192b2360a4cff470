import CRealmPlatform
import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct ChecksumTests {
  private func checksum(_ bytes: [UInt8]) -> UInt64 { bytes.span.bytes.checksum }

  @Test func `known words have their known checksums`() {
    var mixed: [UInt8] = []
    for word in 0..<4 {
      for byte in 0..<8 { mixed.append(UInt8(word * 8 + byte)) }
      mixed += [UInt8](repeating: 0xff, count: 8)
    }
    let empty = checksum([])
    let zeros = checksum([UInt8](repeating: 0, count: 64))
    let ones = checksum([UInt8](repeating: 0xff, count: 64))
    let interleaved = checksum(mixed)
    #expect(empty == 0)
    #expect(zeros == 0x8a91_36aa_8a91_36aa)
    #expect(ones == 0x62a8_ab43_62a8_ab43)
    #expect(interleaved == 0x62a8_ab43_46dd_794e)
  }

  @Test(arguments: 0..<6)
  func `the processor's instruction and the tables give the same checksum`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let bytes = generator.bytes(4096 + 8)
    for length in stride(from: 0, through: 4096, by: 8) {
      let start = generator.below(8)
      let (fast, slow) = bytes.withUnsafeBytes { buffer in
        let base = buffer.baseAddress! + start
        return (cp_checksum(base, length), cp_checksum_portable(base, length))
      }
      #expect(fast == slow, "\(length) bytes from \(start)")
    }
  }

  @Test(arguments: 0..<4)
  func `a flipped bit always changes the checksum`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var bytes = generator.bytes(512)
    let whole = checksum(bytes)
    var missed: [Int] = []
    for bit in 0..<bytes.count * 8 {
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      if checksum(bytes) == whole { missed.append(bit) }
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
    }
    #expect(missed == [])
    let restored = checksum(bytes)
    #expect(restored == whole)
  }

  @Test(arguments: 0..<8)
  func `other content in one sector changes both halves of the checksum`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let bytes = generator.bytes(4096)
    let whole = checksum(bytes)
    for sector in 0..<8 {
      var torn = bytes
      torn.replaceSubrange(sector * 512..<(sector + 1) * 512, with: generator.bytes(512))
      let changed = checksum(torn) ^ whole
      #expect(changed & 0xffff_ffff != 0, "sector \(sector)")
      #expect(changed >> 32 != 0, "sector \(sector)")
    }
  }
}
