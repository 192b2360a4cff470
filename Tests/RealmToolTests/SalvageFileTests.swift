import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// The command `salvage`.
@Suite struct SalvageFileTests {
  @Test(arguments: [nil, Keys.first]) func `all objects of a sound file are written`(key: [UInt8]?) throws {
    try withTemporaryPath { path in
      try ToolSample.makeSmall(path, key: key)
      let digits = key?.map { String(format: "%02x", $0) }.joined()
      let target = path + ".new"
      let outcome = try Tool.run(["salvage", path, target], key: digits)
      #expect(outcome.code == 0 && outcome.complaint == "", "\(outcome)")
      #expect(outcome.output.contains("nothing is lost"))
      #expect(try Tool.run(["check", target]).code == 0)
      let new = try Tool.run(["dump", target]).output
      // The keys of rows are new in the target.
      let old = try Tool.run(["dump", path], key: digits).output
      #expect(new.split(separator: "\n").count == old.split(separator: "\n").count)
      for text in ["Ada", "Zürich", "notes\ta"] {
        #expect(new.contains(text) && old.contains(text), "\(new)")
      }
      let again = try Tool.run(["salvage", path, target], key: digits)
      #expect(again.code == 3 && again.complaint.contains("exists"), "\(again)")
      #expect(try Tool.run(["dump", target]).output == new)
    }
  }

  @Test func `lost values are listed, and no other value is missing`() throws {
    try withTemporaryPath { path in
      try ToolSample.makeSmall(path)
      let ref = try DamageTests().node((part: "column Person.name", node: "piece"), path, nil)
      try DamageTests.flip(path, at: ref.offset + UInt64(ref.length) - 8)
      let before = try Data(contentsOf: URL(filePath: path))
      let target = path + ".new"
      let outcome = try Tool.run(["salvage", path, target])
      #expect(outcome.code == 1 && outcome.output.contains("what is lost stands on standard error"))
      #expect(outcome.complaint.contains("LOST: ") && outcome.complaint.contains("column Person.name"))
      #expect(try Data(contentsOf: URL(filePath: path)) == before)
      #expect(try Tool.run(["check", target]).code == 0)
      let people = try Tool.run(["dump", "--table", "Person", target]).output.split(separator: "\n").count
      let kept = try Tool.run(["dump", "--keep-going", "--table", "Person", path]).output
      #expect(people == kept.split(separator: "\n").count)
    }
  }

  @Test func `a synced file is salvaged as a file without sync`() throws {
    try withTemporaryPath { path in
      try Data(GoldenFile(.one, .client, isEncrypted: false).bytes()).write(to: URL(filePath: path))
      let target = path + ".new"
      #expect(try Tool.run(["salvage", path, target]).code == 0)
      let info = try Tool.run(["info", target]).output
      #expect(info.contains("Synced                no"))
      #expect(try Tool.run(["check", target]).code == 0)
      let rows = try Tool.run(["info", path]).output.split(separator: "\n").first { $0.hasPrefix("Rows") }
      #expect(rows != nil && info.contains(rows ?? ""))
    }
  }

  @Test func `a file that is not a realm leaves no file at the target`() throws {
    try withTemporaryPath { path in
      try Data("no realm".utf8).write(to: URL(filePath: path))
      let outcome = try Tool.run(["salvage", path, path + ".new"])
      #expect(outcome.code == 3 && outcome.output == "")
      #expect(!FileManager.default.fileExists(atPath: path + ".new"))
    }
  }
}
