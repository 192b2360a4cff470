import Foundation
import RealmFuzzSupport

/// Inputs that are kept in the repository.
enum NetworkCorpus {
  private static let tests = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static let kept = FuzzCorpus(tests.appendingPathComponent("FuzzCorpus"))

  /// Messages of one side, of each kind.
  ///
  /// - Parameter side: `client` or `server`.
  static func transcript(of side: String) throws -> [[UInt8]] {
    let file = tests.appendingPathComponent("RealmSyncTests/Golden/transcript.txt")
    let text = try String(contentsOf: file, encoding: .utf8)
    return text.split(separator: "\n").compactMap { line -> [UInt8]? in
      let words = line.split(separator: " ", maxSplits: 2)
      guard words.count > 1, words[0] == side else { return nil }
      return bytes(ofHexadecimal: Array(words[1].utf8))
    }
  }

  private static func bytes(ofHexadecimal digits: [UInt8]) -> [UInt8] {
    stride(from: 0, to: digits.count - 1, by: 2).compactMap { place in
      UInt8(String(decoding: digits[place...place + 1], as: UTF8.self), radix: 16)
    }
  }
}
