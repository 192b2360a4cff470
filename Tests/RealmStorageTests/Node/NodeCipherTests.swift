import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct NodeCipherTests {
  private static func cipher() throws -> NodeCipher {
    try NodeCipher(
      key: (0..<64).map { UInt8($0) }, salt: (0..<16).map { UInt8($0) }, fileID: (0..<16).map { UInt8($0) })
  }

  /// Seals a node, unseals it, and expects its content to be the same. Returns the nonce.
  private static func seal(_ content: [UInt8], unit: UInt64, _ sealing: inout NodeCipher.Sealing) throws
    -> [UInt8]
  {
    let cipher = try cipher()
    var sealed = [UInt8](repeating: 0, count: NodeCipher.nonceLength + content.count)
    var ref = Ref(
      unit: unit, length: content.count, identity: Ref.identity(birth: 3, kind: .leaf, level: 0), dirty: false
    )
    (ref.check, ref.check2) = content.withUnsafeBytes { content in
      sealed.withUnsafeMutableBytes {
        cipher.seal(content, unit: unit, birth: 3, &sealing, into: $0.baseAddress!)
      }
    }
    var plain = [UInt8](repeating: 0, count: content.count)
    let isWhole = sealed.withUnsafeBytes { sealed in
      plain.withUnsafeMutableBytes {
        cipher.unseal(sealed.baseAddress!, length: content.count, ref: ref, into: $0.baseAddress!)
      }
    }
    #expect(isWhole && plain == content)
    return Array(sealed.prefix(NodeCipher.nonceLength))
  }

  @Test(arguments: 0..<4)
  func `the file's key opens all nodes of a commit, and no two nodes have the same nonce`(
    seed: UInt64
  )
    throws
  {
    var generator = SeededGenerator(seed: seed)
    var sealing = NodeCipher.Sealing()
    var drawn: [[UInt8]] = []
    for count in [0, 1, 2, 300, 3] {
      sealing.end()
      var first: [UInt8]?
      for unit in 0..<count {
        let content = generator.bytes(8 * (1 + generator.below(600)))
        let nonce = try Self.seal(content, unit: UInt64(128 + unit), &sealing)
        // One key is derived for all nodes of a commit.
        #expect(Array(nonce.prefix(16)) == first ?? Array(nonce.prefix(16)))
        first = Array(nonce.prefix(16))
        drawn.append(nonce)
      }
    }
    #expect(Set(drawn).count == drawn.count, "seed \(seed)")
    #expect(Set(drawn.map { Array($0.prefix(16)) }).count == 4)
  }
}
