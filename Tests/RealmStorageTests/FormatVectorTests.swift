import Foundation
import Testing

@testable import RealmStorage

/// The values that FORMAT.md gives to those who write a reader are those of the engine.
@Suite struct FormatVectorTests {
  private static let document = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "FORMAT.md")

  private func expectLine(_ name: String, _ value: String) throws {
    let text = try String(contentsOf: Self.document, encoding: .utf8)
    #expect(text.contains("\n| \(name) | \(value) |\n"), "FORMAT.md lacks: | \(name) | \(value) |")
  }

  @Test func `checksums`() throws {
    let zero = [UInt8](repeating: 0, count: 16)
    for (name, bytes) in [
      ("8 bytes of zero", Array(zero[..<8])), ("16 bytes of zero", zero), ("00 01 02 … 0f", [UInt8](0..<16)),
      ("00 01 02 … 3f", [UInt8](0..<64)),
    ] {
      try expectLine(name, String(format: "0x%016lX", bytes.span.bytes.checksum))
    }
  }

  @Test func `keys`() throws {
    let (key, salt) = ([UInt8](0..<64), [UInt8](0..<16))
    for (name, purpose) in [("node key", KeyDerivation.Purpose.nodes), ("meta key", .metaPages)] {
      let subkey = KeyDerivation.subkey(purpose, of: key, salt: salt)
      try expectLine(name, Self.digits((0..<subkey.count).map { subkey.base[$0] }))
    }
    let cipher = try NodeCipher(key: key, salt: salt, fileID: salt)
    try expectLine("key check", Self.digits(cipher.keyCheck))
  }

  private static func digits(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }
}
