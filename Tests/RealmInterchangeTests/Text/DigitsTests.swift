import RealmInterchange
import RealmTestSupport
import Testing

@Suite struct DigitsTests {
  @Test(arguments: Slow.seeds(3, slow: 60))
  func `random bytes are read again from hexadecimal digits and from base64`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<300 {
      let bytes = generator.bytes(generator.below(40))
      let digits = Hexadecimal.text(bytes)
      #expect(digits.utf8.count == 2 * bytes.count)
      #expect(digits == digits.lowercased())
      #expect(Hexadecimal.bytes(digits) == bytes, "seed \(seed): \(digits)")
      #expect(Hexadecimal.bytes(digits.uppercased()) == bytes, "seed \(seed): \(digits)")
      #expect(Base64.bytes(Base64.text(bytes)) == bytes, "seed \(seed): \(bytes)")
      let uuid = generator.bytes(16)
      #expect(UUIDText.bytes(UUIDText.text(uuid)) == uuid, "seed \(seed): \(uuid)")
      #expect(UUIDText.bytes(UUIDText.text(uuid).uppercased()) == uuid, "seed \(seed): \(uuid)")
    }
  }

  @Test func `only an even number of hexadecimal digits gives bytes`() {
    #expect(Hexadecimal.bytes("") == [])
    #expect(Hexadecimal.bytes("00fFA9") == [0, 0xff, 0xa9])
    for text in ["0", "000", "0g", "g0", "+1", "-1", " 1", "0x", "é", "１２", "00 "] {
      #expect(Hexadecimal.bytes(text) == nil, "\(text)")
    }
    let digits = Set("0123456789abcdefABCDEF".utf8)
    let taken = (UInt8(0)..<0x80).filter {
      Hexadecimal.bytes("0" + String(Character(Unicode.Scalar($0)))) != nil
    }
    #expect(Set(taken) == digits)
  }

  @Test func `numbers are padded with zeros, and greater ones keep all their digits`() {
    #expect(Hexadecimal.text(0, digits: 4) == "0000")
    #expect(Hexadecimal.text(0xabc, digits: 4) == "0abc")
    #expect(Hexadecimal.text(0x12345, digits: 4) == "12345")
    #expect(Hexadecimal.text(.max, digits: 16) == "ffffffffffffffff")
    #expect(Hexadecimal.text(1, digits: 0) == "1")
  }

  @Test func `base64 is that of RFC 4648`() {
    let vectors = [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
      ("foobar", "Zm9vYmFy"),
    ]
    for (text, encoded) in vectors {
      #expect(Base64.text(Array(text.utf8)) == encoded)
      #expect(Base64.bytes(encoded) == Array(text.utf8))
    }
    for text in ["Z", "Zg", "Zm9v!", "****", "Zm9vé", "="] { #expect(Base64.bytes(text) == nil, "\(text)") }
  }

  @Test func `a UUID has five groups of digits`() {
    let text = "00112233-4455-6677-8899-aabbccddeeff"
    #expect(UUIDText.bytes(text)?.enumerated().allSatisfy { $1 == UInt8($0 * 0x11) } == true)
    for wrong in [
      "", "00112233445566778899aabbccddeeff", "{" + text + "}", text + "-", "-" + text, text + "0",
      "0011223-34455-6677-8899-aabbccddeeff", "00112233-4455-6677-8899-aabbccddeefg",
      "00112233-4455-6677-8899-aabbccddée", "00112233--4455-6677-8899aabbccddeeff", "--------",
    ] {
      #expect(UUIDText.bytes(wrong) == nil, "\(wrong)")
    }
  }
}
