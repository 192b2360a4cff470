import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Files whose named versions are damaged or forged. The newest version can be read and written all the same, and the
/// name can be dropped.
@Suite struct ForgedNameTests {
  /// A change of the bytes of a slot, without its rule.
  struct Forgery: CustomTestStringConvertible, Sendable {
    let testDescription: String
    var rule: UInt8 = 1
    let change: @Sendable (inout [UInt8]) -> Void
  }

  /// Slots that do not describe a version.
  static let malformed: [Forgery] = [
    Forgery(testDescription: "version 0") { $0.store(UInt64(0), at: 0) },
    Forgery(testDescription: "a version newer than the file's") { $0.store(UInt64(1) << 40, at: 0) },
    Forgery(testDescription: "a ref that is none") { $0.store(UInt64.max, at: 8) },
    Forgery(testDescription: "a kind that is none") { $0.store(UInt64(0xff) << 48 | 2, at: 16) },
    Forgery(testDescription: "a root born later") {
      $0.store($0.load(UInt64.self, at: 16) + 1 << 20, at: 16)
    },
    Forgery(testDescription: "an end within a page") { $0.store(UInt64(12_289), at: 40) },
    Forgery(testDescription: "an end in the meta pages") { $0.store(UInt64(4096), at: 40) },
    Forgery(testDescription: "an end beyond all files") { $0.store(UInt64.max << 12, at: 40) },
    Forgery(testDescription: "no end, and a root") { $0.store(UInt64(0), at: 40) },
    Forgery(testDescription: "too few bytes") { $0.removeLast() },
    Forgery(testDescription: "no bytes") { $0 = [] },
    Forgery(testDescription: "the rule of what may be ignored", rule: 0) { _ in },
  ]

  /// Slots that describe a version that does not exist.
  static let misleading: [Forgery] = [
    Forgery(testDescription: "another checksum") { $0[24] ^= 1 },
    Forgery(testDescription: "another place") { $0.store($0.load(UInt64.self, at: 8) + 1, at: 8) },
    Forgery(testDescription: "a place beyond the file") {
      $0.store($0.load(UInt64.self, at: 8) + 1 << 30, at: 8)
    },
    Forgery(testDescription: "an end beyond the file") { $0.store(UInt64(1) << 40, at: 40) },
    Forgery(testDescription: "an end before its nodes") { $0.store(UInt64(8192), at: 40) },
    Forgery(testDescription: "another kind") {
      $0.store($0.load(UInt64.self, at: 16) ^ 3 << 48, at: 16)
    },
  ]

  /// - Parameter whileOpen: True if `body` also runs before the file is closed, when the nodes of the version have been
  ///   read.
  private func withForged(_ forgery: Forgery, whileOpen: Bool, _ body: (Database) throws -> Void) throws {
    try withTemporaryPath { path in
      let database = try Database(path: path)
      for number in 0..<30 {
        try database.write { try $0.tree("a").set([UInt8](repeating: 1, count: 700), for: [UInt8(number)]) }
      }
      let snapshot = try database.snapshot()
      let kept = VersionSlots.Kept(snapshot.base, since: 5)
      let transaction = try database.beginWrite()
      try transaction.changeCatalogue(added: 1) { (catalogue, editor) throws(StorageError) in
        try VersionSlots.set(kept, for: "forged", in: &catalogue, editor)
        let key = "version/forged"
        let slot = try NamedSlots.find(key, in: catalogue.namedSlots, editor.access())
        var bytes = slot?.bytes ?? []
        forgery.change(&bytes)
        let rule = AttributeRule(rawValue: UInt16(forgery.rule)) ?? .knownToWrite
        try NamedSlots.set(rule, bytes, for: key, in: &catalogue, editor)
      }
      try transaction.commit()
      try database.keepVersion(named: "whole")
      for number in 0..<60 {
        try database.write {
          try $0.tree("a").set([UInt8](repeating: 2, count: 700), for: [UInt8(number % 30)])
        }
      }
      if whileOpen { try body(database) }
      database.close()
      // Opening the file again walks through the forged slot.
      try body(Database(path: path))
      let again = try Database(path: path)
      #expect(try again.dropVersion(named: "forged"))
      try again.write { try $0.tree("a").set([3], for: [3]) }
      #expect(again.writer?.pages.with { $0.space.isPartial } == false)
      let pages = again.recycledPages
      for number in 0..<60 {
        try again.write { try $0.tree("a").set([UInt8](repeating: 2, count: 700), for: [UInt8(number % 30)]) }
      }
      #expect(again.recycledPages > pages)
      #expect(try again.namedVersions().map(\.name) == ["whole"])
      #expect(try NamedVersionCheck.run(again).findings.isEmpty)
      #expect(try again.snapshot(named: "whole")?.tree("a").value(for: [7])?.first == 1)
    }
  }

  @Test(arguments: malformed)
  func `a slot that describes no version is damage, and can be dropped`(forgery: Forgery) throws {
    try withForged(forgery, whileOpen: true) { database in
      let told = #expect(throws: StorageError.self) { try database.snapshot(named: "forged") }
      #expect("\(try #require(told))".contains("version/forged"))
      #expect(throws: StorageError.self) { try database.namedVersions() }
      #expect(try database.snapshot(named: "whole")?.tree("a").value(for: [7])?.first == 1)
      // The newest version is whole.
      let findings = try IntegrityCheck.run(database.snapshot()).findings
      #expect(findings == [])
      let report = try NamedVersionCheck.run(database)
      #expect(report.versions == 2)
      #expect(report.findings.map(\.name) == ["forged"] && report.findings[0].error.isDamage)
      try database.write { try $0.tree("a").set([UInt8](repeating: 2, count: 700), for: [5]) }
      #expect(try database.pinnedVersions().compactMap(\.name) == ["whole"])
    }
  }

  @Test(arguments: misleading)
  func `the check reports a name of a version that does not exist, and the name can be dropped`(
    forgery: Forgery
  )
    throws
  {
    try withForged(forgery, whileOpen: false) { database in
      let report = try NamedVersionCheck.run(database)
      #expect(report.versions == 2)
      #expect(!report.findings.isEmpty && report.findings.allSatisfy { $0.name == "forged" })
      #expect(report.findings.first.map { "\($0)" }?.contains("dropVersion(named:)") == true)
      #expect(throws: StorageError.self) {
        try database.snapshot(named: "forged")?.tree("a").value(for: [7])
      }
      let findings = try IntegrityCheck.run(database.snapshot()).findings
      #expect(findings == [])
      try database.write { try $0.tree("a").set([UInt8](repeating: 2, count: 700), for: [5]) }
      #expect(try database.snapshot(named: "whole")?.tree("a").value(for: [7])?.first == 1)
      #expect(try Set(database.pinnedVersions().compactMap(\.name)) == ["forged", "whole"])
    }
  }
}
