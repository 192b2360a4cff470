import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct DeflateTests {
  private func bytes(_ seed: UInt64) -> [UInt8] {
    var random = SeededGenerator(seed: seed)
    let count = Int.random(in: 0..<20_000, using: &random)
    let values = UInt8.random(in: 1...255, using: &random)
    return (0..<count).map { _ in UInt8.random(in: 0..<values, using: &random) }
  }

  @Test(arguments: 0..<60 as Range<UInt64>) func `compressed bytes expand to the original bytes`(seed: UInt64)
    throws
  {
    let bytes = bytes(seed)
    guard let small = Deflate.compressed(bytes) else { return }
    #expect(small.count < bytes.count)
    #expect(Deflate.expanded(small, count: bytes.count) == bytes, "seed \(seed)")
    #expect(Deflate.expanded(small, count: bytes.count + 1) == nil)
    #expect(Deflate.expanded(small, count: bytes.count - 1) == nil)
    #expect(Deflate.expanded(small + [0], count: bytes.count) == nil)
    for end in stride(from: 0, to: small.count, by: max(1, small.count / 40)) {
      #expect(Deflate.expanded(Array(small[..<end]), count: bytes.count) == nil, "seed \(seed)")
    }
  }

  @Test func `incompressible bytes are not compressed`() {
    var random = SeededGenerator(seed: 1)
    #expect(Deflate.compressed((0..<1_000).map { _ in UInt8.random(in: 0...255, using: &random) }) == nil)
    #expect(Deflate.compressed([]) == nil)
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func `damaged streams are refused or expand to the requested length`(
    seed: UInt64
  ) throws {
    var random = SeededGenerator(seed: seed)
    let text = Array(String(repeating: "a database of objects, ", count: 50).utf8)
    var small = try #require(Deflate.compressed(text))
    for _ in 0..<3 {
      small[Int.random(in: small.indices, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
    }
    if let found = Deflate.expanded(small, count: text.count) { #expect(found.count == text.count) }
  }

  /// A stream of one megabyte of zeros is expanded with a shorter length.
  @Test func `a stream that would expand to more bytes than requested is refused`() throws {
    let small = try #require(Deflate.compressed([UInt8](repeating: 0, count: 1 << 20)))
    #expect(small.count < 10_000 && Deflate.expanded(small, count: 100) == nil)
    #expect(Deflate.expanded(small, count: -1) == nil)
    #expect(Deflate.expanded([], count: 1) == nil && Deflate.expanded([], count: 0) == nil)
    #expect(Deflate.expanded(small, count: .max) == nil)
    #expect(Deflate.expanded(small, count: 1 << 20)?.count == 1 << 20)
  }
}
