import Testing

@testable import RealmStorage

@Suite struct NodeCipherTests {
  private static func draw(_ count: Int, _ nonces: inout NodeCipher.Nonces) -> [[UInt8]] {
    (0..<count).map { _ in
      var nonce = [UInt8](repeating: 0, count: NodeCipher.nonceLength)
      nonce.withUnsafeMutableBytes { nonces.store(to: $0.baseAddress!) }
      return nonce
    }
  }

  @Test func `no two nodes have a nonce in common, in a commit or in several`() {
    var nonces = NodeCipher.Nonces()
    var drawn: [[UInt8]] = []
    for count in [0, 1, 15, 16, 17, 40, 3] {
      nonces.forget()
      drawn += Self.draw(count, &nonces)
    }
    #expect(Set(drawn).count == drawn.count)
    // 92 of them: by chance no byte has the same value in all.
    for place in 0..<NodeCipher.nonceLength { #expect(Set(drawn.map { $0[place] }).count > 8) }
  }

  @Test func `what a commit has not used of its nonces no other gets`() {
    var nonces = NodeCipher.Nonces()
    _ = Self.draw(3, &nonces)
    // As in a copy of this program's memory.
    var copy = nonces
    nonces.forget()
    copy.forget()
    #expect(Set(Self.draw(20, &nonces)).isDisjoint(with: Self.draw(20, &copy)))
  }
}
