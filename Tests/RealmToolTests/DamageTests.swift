import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

@Suite struct DamageTests {
  /// The parts that a damaged node can belong to, with the kinds of the nodes.
  static let places: [(part: String, node: String)] = [
    ("table Person", "cluster"), ("column Person.name", "piece"), ("index Person.id", "leaf"),
    ("links to City", "leaf"), ("tree notes", "leaf"), ("catalogue", "leaf"), ("table City", "table"),
  ]

  @Test(arguments: places, [nil, Keys.first])
  func `damage of any part exits with 1 and is reported with its kind and place`(
    place: (part: String, node: String), key: [UInt8]?
  ) throws {
    try withTemporaryPath { path in
      try ToolSample.makeSmall(path, key: key)
      let ref = try self.node(place, path, key)
      try Self.flip(path, at: ref.offset + UInt64(ref.length) - 8)
      let digits = key?.map { String(format: "%02x", $0) }.joined()
      let check = try Tool.run(["check", path], key: digits)
      #expect(check.code == 1)
      #expect(
        check.output.contains(
          "DAMAGE: \(path) is damaged: \(place.node) of \(place.part) at offset \(ref.offset) ("),
        "\(check.output)\(check.complaint)")
      #expect(check.output.contains(key == nil ? "checksum does not match" : "tag does not match"))
      #expect(check.output.contains("1 finding."))
      // A dump and a report on space continue as far as they can, and report the same damage. They do not read all
      // nodes.
      let dump = try Tool.run(["dump", path], key: digits)
      #expect(dump.code == 0 || dump.code == 1 && dump.complaint.contains("is damaged"))
      try Self.expectKeptGoing(path, place, ref, digits)
      let stats = try Tool.run(["stats", path], key: digits)
      #expect(stats.code == 0 || stats.code == 1 && stats.complaint.contains("is damaged"))
    }
  }

  /// If a copy was made while the file was in use, the opening checks the whole newest version, and falls back to an
  /// older version if that check fails.
  @Test(arguments: [nil, Keys.first])
  func `the newest version of a damaged copy is dumped with its losses`(key: [UInt8]?) throws {
    try withTemporaryPath { path in
      let database = try Database(path: path, options: .init(encryptionKey: key))
      try database.write { transaction in
        let cities = try transaction.createTable(TableSchema("City", columns: [Column("name", .string)]))
        try cities.insert(["name": .string("Troy")])
      }
      try database.write { try $0.tree("notes").set([49], for: [97]) }
      let copy = path + "-copy"
      try FileManager.default.copyItem(atPath: path, toPath: copy)
      let digits = key?.map { String(format: "%02x", $0) }.joined()
      #expect(try Tool.run(["dump", "--keep-going", copy], key: digits).code == 0)
      for place in [("tree notes", "leaf"), ("table City", "cluster")] {
        let ref = try self.node(place, path, key)
        try Self.flip(copy, at: ref.offset + UInt64(ref.length) - 8)
        let dump = try Tool.run(["dump", "--keep-going", copy], key: digits)
        #expect(dump.code == 1 && dump.complaint.contains("at offset \(ref.offset) ("), "\(dump)")
        #expect(dump.output.contains("notes\ta") == (place.0 == "table City"), "\(dump)")
        #expect(dump.output.contains("Troy") == (place.0 == "tree notes"), "\(dump)")
        try Self.flip(copy, at: ref.offset + UInt64(ref.length) - 8)
      }
      // The copy is cut, so that the pages at its end are lost.
      let length = try FileManager.default.attributesOfItem(atPath: copy)[.size] as? UInt64 ?? 0
      let file = try FileHandle(forUpdating: URL(filePath: copy))
      try file.truncate(atOffset: 8192)
      try file.close()
      let dump = try Tool.run(["dump", "--keep-going", copy], key: digits)
      #expect(dump.code == 1 && dump.complaint.contains("LOST: everything"), "\(length) \(dump)")
      #expect(database.version > 0)
    }
  }

  /// Checks a dump that continues after damage, and the values that it reports as lost.
  private static func expectKeptGoing(
    _ path: String, _ place: (part: String, node: String), _ ref: Ref, _ digits: String?
  ) throws {
    let plain = try Tool.run(["dump", "--keep-going", path], key: digits)
    let json = try Tool.run(["dump", "--keep-going", "--json", path], key: digits)
    let lines = json.output.split(separator: "\n")
    let last = try JSONValue(String(try #require(lines.last)))
    let losses = try #require(last["lost"]?.array)
    // A dump needs no indexes and no links.
    let isNeeded = !place.part.hasPrefix("index") && !place.part.hasPrefix("links")
    #expect(plain.code == (isNeeded ? 1 : 0) && json.code == plain.code, "\(plain) \(json)")
    #expect(losses.isEmpty != isNeeded)
    for loss in losses {
      #expect(loss["offset"]?.integer == Int64(ref.offset) && loss["node"]?.string == place.node, "\(json)")
      #expect(loss["finding"]?.string == (digits == nil ? "checksum" : "authentication"))
    }
    #expect(plain.complaint.split(separator: "\n").count == losses.count, "\(plain.complaint)")
    #expect(plain.complaint.contains("LOST: ") == isNeeded)
    // The loss depends on which leaf of the catalogue is damaged. A table whose leaf may be lost can still be dumped by
    // its name.
    guard place.part != "catalogue" else {
      let one = try Tool.run(["dump", "--keep-going", "--table", "City", path], key: digits)
      #expect(one.code == 1, "\(one)")
      return
    }
    let shows = { (text: String) in plain.output.contains(text) }
    #expect(shows("Zürich") == (place.part != "table City"), "\(plain.output)")
    #expect(shows("born=1815") == (place.part != "table Person"), "\(plain.output)")
    #expect(shows("notes\t") == (place.part != "tree notes"), "\(plain.output)")
    #expect(shows("name=(lost)") == (place.part == "column Person.name"), "\(plain.output)")
    #expect(json.output.contains("{\"$lost\":true}") == (place.part == "column Person.name"))
  }

  func node(_ place: (part: String, node: String), _ path: String, _ key: [UInt8]?) throws -> Ref {
    let database = try Database(path: path, options: .init(encryptionKey: key, isReadOnly: true))
    let snapshot = try database.snapshot()
    let access = snapshot.access()
    let parts = FileParts(snapshot.root, access)
    var found: Ref?
    func visit(_ ref: Ref, _ part: FilePart, _ access: borrowing NodeAccess) throws {
      if "\(part)" == place.part, ref.kind?.name == place.node { found = ref }
      let pieces = ref.kind == .cluster ? try parts.parts(ofCluster: ref, of: part, access).pieces : []
      for (index, child) in try access.children(of: ref).enumerated() {
        try visit(child, pieces.isEmpty ? parts.part(startingAt: child) ?? part : pieces[index], access)
      }
    }
    try visit(snapshot.root, FilePart(role: .catalogue), access)
    return try #require(found, "no \(place.node) of \(place.part)")
  }

  static func flip(_ path: String, at offset: UInt64) throws {
    let file = try FileHandle(forUpdating: URL(filePath: path))
    defer { try? file.close() }
    try file.seek(toOffset: offset)
    let old = try #require(try file.read(upToCount: 1)?.first)
    try file.seek(toOffset: offset)
    try file.write(contentsOf: Data([old ^ 0x40]))
  }
}
