import Foundation
import RealmStorage
import TestSupport
import Testing

/// These run the built tool as a user would.
@Suite struct RealmToolTests {
  private struct Outcome {
    var code: Int32
    var output: String
    var complaint: String
  }

  private func realm(_ arguments: [String], key: String? = nil) throws -> Outcome {
    let process = Process()
    process.executableURL = Self.tool
    process.arguments = arguments
    process.environment = key.map { ["REALM_KEY": $0] } ?? [:]
    let (output, complaint) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = complaint
    try process.run()
    let text = output.fileHandleForReading.readDataToEndOfFile()
    let words = complaint.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Outcome(
      code: process.terminationStatus, output: String(decoding: text, as: UTF8.self),
      complaint: String(decoding: words, as: UTF8.self))
  }

  /// The executable stands beside the test bundle.
  private static let tool: URL = {
    #if os(macOS)
      let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL
      return (bundle ?? Bundle.main.bundleURL).deletingLastPathComponent().appending(path: "realm")
    #else
      return URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appending(path: "realm")
    #endif
  }()

  private let digits = Keys.first.map { String(format: "%02x", $0) }.joined()

  private func make(_ path: String, key: [UInt8]? = nil) throws {
    let database = try Database(path: path, options: .init(encryptionKey: key))
    try database.write { transaction in
      let tree = try transaction.tree("people")
      try tree.set(Array("line\n\"quoted\"".utf8), for: Array("a".utf8))
      try tree.set([0xff, 0x00], for: [0x80])
      try tree.set([UInt8](repeating: 65, count: 70_000), for: Array("long".utf8))
    }
  }

  @Test func `a healthy file passes all commands`() throws {
    try withTemporaryPath { path in
      try make(path)
      let info = try realm(["info", path])
      #expect(info.code == 0 && info.output.contains("Encrypted             no"))
      #expect(info.output.contains("Closed cleanly        yes"))
      let check = try realm(["check", path])
      #expect(check.code == 0 && check.output.contains("3 entries") && check.output.contains("all whole"))
      #expect(try realm(["schema", path]).output == "tree people: 3 entries\n")
      let stats = try realm(["stats", path])
      #expect(stats.code == 0 && stats.output.contains("tree people") && stats.output.contains("chunk"))
    }
  }

  @Test func `a dump is enough to build the content anew`() throws {
    try withTemporaryPath { path in
      try make(path)
      let dump = try realm(["dump", "--json", path])
      #expect(dump.code == 0)
      let copy = try Database(inMemory: "copy")
      try copy.write { transaction in
        for line in dump.output.split(separator: "\n") {
          let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
          let name = object?["tree"] as? String ?? ""
          try transaction.tree(name).set(bytes(object?["value"]), for: bytes(object?["key"]))
        }
      }
      let original = try Database(path: path, options: .init(isReadOnly: true))
      #expect(try Content.fingerprint(of: copy.snapshot()) == Content.fingerprint(of: original.snapshot()))
      #expect(try realm(["dump", "--json", "--limit", "1", path]).output.split(separator: "\n").count == 1)
    }
  }

  private func bytes(_ value: Any?) -> [UInt8] {
    if let text = value as? String { return Array(text.utf8) }
    let data = (value as? [String: Any])?["$data"] as? String ?? ""
    return [UInt8](Data(base64Encoded: data) ?? Data())
  }

  @Test func `why a file can't be opened is said, and the exit code tells it`() throws {
    try withTemporaryPath { path in
      try make(path, key: Keys.first)
      #expect(try realm(["check", path]).code == 3)
      #expect(try realm(["check", path]).complaint.contains("is encrypted; give its 64-byte key"))
      #expect(try realm(["check", path], key: digits).code == 0)
      #expect(try realm(["check", path], key: String(digits.reversed())).complaint.contains("another key"))
      #expect(try realm(["check", path], key: "12").code == 2)
      #expect(try realm(["check"]).code == 2)
      #expect(try realm(["check", path + ".not"]).code == 3)
    }
    try withTemporaryPath { path in
      try Data("this is some text and no database".utf8).write(to: URL(filePath: path))
      #expect(try realm(["info", path]).complaint.contains("is not a realm file"))
      #expect(try realm(["info", path]).code == 3)
    }
  }

  @Test func `damage is found and exits with 1`() throws {
    try withTemporaryPath { path in
      try make(path)
      let file = try FileHandle(forUpdating: URL(filePath: path))
      try file.seek(toOffset: 8192 + 1000)
      try file.write(contentsOf: Data([1, 2, 3]))
      try file.close()
      let check = try realm(["check", path])
      #expect(check.code == 1)
      #expect(check.output.contains("DAMAGE") || check.complaint.contains("is damaged"))
    }
  }
}
