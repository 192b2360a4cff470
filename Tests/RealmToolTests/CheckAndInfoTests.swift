import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// The command `check` for several files, and the output of `check`, `info` and `stats` for programs.
@Suite struct CheckAndInfoTests {
  /// A sound file and a damaged one.
  private func withFiles(_ body: (_ sound: String, _ damaged: String) throws -> Void) throws {
    try withTemporaryPath { sound in
      try ToolSample.makeSmall(sound)
      let damaged = sound + ".damaged"
      var bytes = try Data(contentsOf: URL(filePath: sound))
      for place in stride(from: 8192, to: bytes.count, by: 64) { bytes[place + 20] ^= 1 }
      try bytes.write(to: URL(filePath: damaged))
      try body(sound, damaged)
    }
  }

  private static func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
  }

  @Test func `all files are checked, even if some of them are damaged`() throws {
    try withFiles { sound, damaged in
      let missing = sound + ".missing"
      let both = try Tool.run(["check", sound, sound])
      #expect(both.code == 0 && both.complaint == "")
      #expect(both.output.split(separator: "\n").allSatisfy { $0.hasPrefix("\(sound): ") })
      let all = try Tool.run(["check", damaged, missing, sound])
      #expect(all.code == 1 && all.complaint.contains("\(missing) does not exist"))
      #expect((all.output + all.complaint).contains(damaged) && all.output.contains("\(sound): "))
      #expect(try Tool.run(["check", sound, missing]).code == 3)
      #expect(try Tool.run(["check", missing]).code == 3)
      #expect(try Tool.run(["check"]).code == 2)
    }
  }

  @Test func `check prints an object for each file`() throws {
    try withFiles { sound, damaged in
      let outcome = try Tool.run(["check", "--json", sound, damaged])
      #expect(outcome.code == 1)
      let objects = try outcome.output.split(separator: "\n").map { try Self.object(String($0)) }
      try #require(objects.count == 2)
      #expect(objects.map { $0["file"] as? String } == [sound, damaged])
      #expect(objects.map { $0["whole"] as? Bool } == [true, false])
      #expect(objects[0]["findings"] as? [String] == [] && objects[0]["failure"] is NSNull)
      #expect((objects[0]["nodes"] as? Int ?? 0) > 5 && (objects[0]["version"] as? Int ?? 0) > 1)
      let alone = try Tool.run(["check", "--json", damaged])
      #expect(alone.code == 1)
      #expect(try Self.object(alone.output)["whole"] as? Bool == false)
      try Data("no realm".utf8).write(to: URL(filePath: damaged))
      let foreign = try Tool.run(["check", "--json", damaged])
      #expect(foreign.code == 3 && foreign.complaint.contains("is not a realm file"))
      #expect(try Self.object(foreign.output)["whole"] is NSNull)
      let missing = try Tool.run(["check", "--json", sound + ".missing", sound])
      let lines = missing.output.split(separator: "\n")
      #expect(missing.code == 3 && lines.count == 2)
      #expect((try Self.object(String(lines[0])))["failure"] as? String == "\(sound).missing does not exist.")
    }
  }

  @Test func `info prints one object`() throws {
    try withTemporaryPath { path in
      try ToolSample.makeSmall(path, key: Keys.first)
      let digits = Keys.first.map { String(format: "%02x", $0) }.joined()
      let outcome = try Tool.run(["info", "--json", path], key: digits)
      #expect(outcome.code == 0)
      let info = try Self.object(outcome.output)
      #expect(info["file"] as? String == path && info["encrypted"] as? Bool == true)
      #expect(info["format"] as? Int == 1 && info["draft"] is NSNull && info["lastRecovery"] is NSNull)
      #expect(info["closedCleanly"] as? Bool == true && info["pendingChangesets"] is NSNull)
      let pages = try #require(info["metaPages"] as? [[String: Any]])
      #expect(pages.map { $0["version"] as? Int } == [info["version"] as? Int, info["version"] as? Int])
      let draft = GoldenFile(.draft4, .client, isEncrypted: false)
      try Data(draft.bytes()).write(to: URL(filePath: path))
      let client = try Self.object(try Tool.run(["info", "--json", path]).output)
      #expect(client["format"] as? Int == 0 && client["draft"] as? Int == 4)
      #expect(client["pendingChangesets"] as? Int == 6)
    }
  }

  @Test func `stats shows the bytes that compacting would save, and the processes that have the file open`()
    throws
  {
    try withTemporaryPath { path in
      let database = try Database(path: path)
      for round in 0..<40 {
        try database.write { transaction in
          for key in 0..<50 {
            try transaction.tree("a").set([UInt8](repeating: UInt8(round), count: 300), for: [UInt8(key)])
          }
        }
      }
      let open = try Tool.run(["stats", path])
      #expect(open.output.contains("Open in               process \(getpid())"), "\(open.output)")
      let told = try Self.object(try Tool.run(["stats", "--json", path]).output)
      #expect(told["processes"] as? [Int] == [Int(getpid())])
      database.close()
      let closed = try Tool.run(["stats", path])
      #expect(closed.output.contains("Open in               no other process"))
      let expected = try #require(told["compactedBytes"] as? Int)
      #expect(try Tool.run(["compact", path]).code == 0)
      let size = try Int(Data(contentsOf: URL(filePath: path)).count)
      #expect(abs(size - expected) <= max(20_480, size / 20), "\(size), \(expected)")
    }
  }
}
