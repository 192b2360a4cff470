import Foundation
import RealmStorage
import RealmTestSupport
import Testing

/// Tests of how the tool shows versions that are kept by name.
@Suite struct NamedVersionToolTests {
  /// Makes a file with two names for one version, whose large value the newest version no longer has.
  ///
  /// - Returns: The version.
  private func make(_ path: String) throws -> UInt64 {
    let database = try Database(path: path)
    try database.write { try $0.tree("large").set([UInt8](repeating: 77, count: 300_000), for: [1]) }
    let version = try database.keepVersion(named: "feed one")
    let snapshot = try #require(try database.snapshot(named: "feed one"))
    try database.keepVersion(of: snapshot, named: "two")
    try database.write { try $0.tree("large").set([UInt8](repeating: 78, count: 300_000), for: [1]) }
    try database.write { try $0.tree("small").set([1], for: [1]) }
    return version
  }

  @Test func `the bytes that names keep are shown, and each version is checked`() throws {
    try withTemporaryPath { path in
      let version = try make(path)
      let check = try Tool.run(["check", path])
      #expect(check.code == 0 && check.output.contains("2 named versions: all whole."), "\(check.output)")
      let text = try Tool.run(["stats", path]).output
      #expect(text.contains("Version \(version)") && text.contains("kept by the name feed one for"))
      let pins = try JSONValue(Tool.run(["stats", "--json", path]).output)["pinned"]?.array ?? []
      #expect(pins.compactMap { $0["name"]?.string }.sorted() == ["feed one", "two"])
      #expect(pins.compactMap { $0["bytes"]?.integer }.reduce(0, +) >= 300_000)
    }
  }

  @Test func `damage of a named version is reported with its name`() throws {
    try withTemporaryPath { path in
      let version = try make(path)
      var bytes = try Data(contentsOf: URL(filePath: path))
      let run = Data(repeating: 77, count: 5000)
      let place = try #require(bytes.range(of: run)).lowerBound
      bytes[place + 2500] ^= 1
      try bytes.write(to: URL(filePath: path))
      let check = try Tool.run(["check", path])
      #expect(check.code == 1)
      #expect(check.output.contains("DAMAGE: version \(version), kept by the name feed one: "))
      #expect(check.output.contains("2 named versions: 2 findings."))
    }
  }

  @Test func `a copy and a compacted file do not keep names, and the tool lists these`() throws {
    try withTemporaryPath { path in
      let version = try make(path)
      let names = "feed one (version \(version)), two (version \(version))."
      let copy = try Tool.run(["copy", path, path + "-copy"])
      #expect(
        copy.code == 0 && copy.output.contains("Versions that the copy does not keep by name: \(names)"))
      #expect(try Database(path: path).namedVersions().count == 2)
      let compacted = try Tool.run(["compact", path])
      #expect(compacted.output.contains("Versions that are no longer kept by name: \(names)"))
      for path in [path, path + "-copy"] {
        #expect(try Database(path: path).namedVersions() == [])
        #expect(try !Tool.run(["compact", path]).output.contains("by name"))
      }
    }
  }
}
