import Foundation
import Testing

/// The folders are the architecture: these tests read the sources. A violation that exists today is listed in
/// `HouseExceptions`. Each listed violation must still exist, so the lists can only shrink.
@Suite struct ArchitectureTests {
  /// The rooms of the engine, from the lowest up.
  private static let engine = House(
    module: "RealmStorage",
    floors: [
      "File", "Node", "Kernel", "Tree", "Space", "Version", "Table/Values", "Table/Cluster",
      "Table/Collection",
      "Table/Index", "Table/Change", "Table/Alteration", "Table/Diff", "Query/Predicate", "Query/Test",
      "Query/Search", "Commit",
      "Changelog", "Database", "Creation", "Upkeep", "Live", "Check",
      "Compare",
    ])
  /// The rooms of the object layer, from the lowest up.
  private static let objects = House(
    module: "RealmSwift",
    floors: [
      "Runtime", "Values", "BSON", "Schema", "Model", "Binding", "Session", "Collections", "Query", "Realm",
      "Dynamic", "Migration",
      "Threads", "Observation", "Accounts", "Sync", "Subscriptions", "NotYet",
    ])

  /// The rooms of the query languages, from the lowest up.
  private static let queries = House(
    module: "RealmQuery",
    floors: ["Text", "Syntax", "Lexing", "Parsing", "RQL", "Format", "Binding", "Language"])

  /// The rooms of the core of device sync, from the lowest up.
  private static let sync = House(module: "RealmSync", floors: ["Merge", "Protocol"])
  private static let frames = House(module: "RealmWebSocket", floors: ["Frames"])
  private static let client = House(
    module: "RealmSyncClient", floors: ["Network", "File", "Session", "Connection"])
  private static let server = House(
    module: "RealmServer", floors: ["Filters", "Log", "State", "Steps", "Node", "Sessions", "App"])
  /// The rooms of other forms of a file's content, from the lowest up.
  private static let interchange = House(
    module: "RealmInterchange",
    floors: ["Text", "JSON", "Input", "Values", "Dump", "CSV", "Objects", "Import", "SQLite"])
  private static let all = [engine, queries, interchange, objects, sync, frames, client, server]

  @Test func `no room of other forms of a file's content names a type of a room above it`() {
    #expect(Self.interchange.upwardNames() == [])
  }

  @Test func `no room of the query languages names a type of a room above it`() {
    #expect(Self.queries.upwardNames() == [])
  }

  @Test func `no room of device sync names a type of a room above it`() {
    for house in [Self.sync, Self.client, Self.server] { #expect(house.upwardNames() == []) }
  }

  @Test func `no room of the engine names a type of a room above it`() {
    #expect(Self.engine.upwardNames() == [])
  }

  @Test func `no room of the engine uses a member that an extension in a room above adds`() {
    #expect(Self.engine.upwardMembers() == [])
  }

  @Test func `nodes and loops over packed columns do not know each other`() {
    let (node, kernel) = (Self.engine.types(of: "Node"), Self.engine.types(of: "Kernel"))
    for (room, others) in [("Node", kernel), ("Kernel", node)] {
      for file in Self.engine.files(of: room) {
        #expect(file.words.intersection(others) == [], "\(room)/\(file.name)")
      }
    }
  }

  @Test func `rooms of the object layer name types of rooms above only if the list allows it`() {
    #expect(Self.objects.upwardNames() == HouseExceptions.upwardNames)
  }

  /// Ways around memory safety: raw memory, uncounted references, unchecked casts.
  @Test func `code leaves memory safety aside only in a few rooms and in listed files`() {
    let allowed = ["File", "Node", "Kernel", "Runtime"]
    var found: [String] = []
    for house in Self.all {
      for room in house.floors where !allowed.contains(room) {
        for file in house.files(of: room) {
          found += Set(
            file.code.matches(of: /\w*[Uu]nsafe\w*|Unmanaged|UncountedReference/).map { String($0.0) }
          )
          .map { "\(house.module)/\(room)/\(file.name): \($0)" }
        }
      }
    }
    #expect(found.sorted() == HouseExceptions.unsafe.sorted())
  }

  /// Without this rule a change could bypass the recorder.
  @Test func `the public tables change rows through three methods of the writer only`() {
    let doors: Set = ["apply", "insert", "change"]
    let reads: Set = [
      "cell", "elements", "checkNotRecorded", "checkNotSynced", "checkWhole", "contains", "element",
      "flushed", "list",
      "listCount",
      "nested", "row", "sorted", "sortedCount", "value", "absentCell",
    ]
    // The methods that change existing columns. A recorder refuses these changes.
    let columns: Set = [
      "becomeEmbedded", "becomeUnembedded", "changeSchema", "changeType", "drop", "setIndex", "setOptional",
      "useElementIDs",
    ]
    let tables: Set = [
      "Table.swift", "Table+Companions.swift", "WritableTable+Collections.swift",
    ]
    for file in Self.engine.files(of: "Database") where tables.contains(file.name) {
      for call in file.code.matches(of: /(?:writer|usableWriter\(\))\??\.(\w+)\(/) {
        let name = String(call.1)
        #expect(doors.union(reads).union(columns).contains(name), "\(file.name) calls \(name) of the writer")
      }
    }
  }

  @Test func `every file stands in a room, and no room holds more than 25`() throws {
    for house in Self.all {
      #expect(try house.folders() == Set(house.floors))
      for room in house.floors {
        let count = house.files(of: room).count
        #expect((1...25).contains(count), "\(house.module)/\(room) holds \(count)")
      }
    }
  }

  /// Names of modules and products are unique among all packages of a program. A program that has, say, a target
  /// `TestSupport` of its own could not depend on this package if a library here were called the same.
  @Test func `libraries and their targets begin with the name of the project`() throws {
    let manifest = try String(
      contentsOf: House.root.deletingLastPathComponent().appending(path: "Package.swift"), encoding: .utf8)
    let names = manifest.matches(of: /\.(?:target|systemLibrary|library)\(\s*name: "([^"]+)"/).map { $0.1 }
    #expect(names.count >= 18)
    #expect(names.filter { !$0.hasPrefix("Realm") && !$0.hasPrefix("CRealm") } == [])
  }

  @Test func `the reader of sources finds types and members in the text of a source`() {
    let text = """
      package final class A {
        struct B
      @usableFromInline enum C {}
      extension A {
        static func one() {}
        // Not a member: two.
        var three: Int { 3 }
      }
      """
    let file = House.Source(name: "A", text: text)
    #expect(file.types == ["A", "C"])
    #expect(file.extensionMembers["A"] == ["one", "three"])
  }
}

/// The rooms of a module, and the declarations in their sources.
private struct House {
  let module: String
  let floors: [String]
  /// The sources of each room.
  private let sources: [String: [Source]]

  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Sources")

  init(module: String, floors: [String]) {
    self.module = module
    self.floors = floors
    let folder = Self.root.appending(path: module)
    sources = floors.reduce(into: [:]) { sources, room in
      let folder = folder.appending(path: room)
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
      sources[room] = names.filter { $0.hasSuffix(".swift") }.sorted().compactMap { name in
        (try? String(contentsOf: folder.appending(path: name), encoding: .utf8)).map {
          Source(name: name, text: $0)
        }
      }
    }
  }

  struct Source {
    let name: String
    let code: String
    /// All words of the code that could be names.
    let words: Set<String>
    /// The types that the file declares at the top level.
    let types: Set<String>
    /// The names of all members and functions, at any depth.
    let members: Set<String>
    /// The names that extensions in this file add to each type, without private ones.
    let extensionMembers: [String: Set<String>]

    init(name: String, text: String) {
      self.name = name
      let all: [Substring] = text.split(separator: "\n" as Character, omittingEmptySubsequences: false)
      let lines = all.map { line -> Substring in
        line.firstRange(of: "//").map { line[..<$0.lowerBound] } ?? line
      }
      code = lines.joined(separator: "\n")
      words = Set(
        code.utf8.split { byte in
          !(byte == UInt8(ascii: "_") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20))
        }.compactMap { String($0) })
      (types, members, extensionMembers) = Self.declarations(lines)
    }

    private static func declarations(
      _ lines: [Substring]
    ) -> (types: Set<String>, members: Set<String>, extensionMembers: [String: Set<String>]) {
      let declaredType =
        /(?:(?:public|package|private|fileprivate|final|indirect|@\w+(?:\(\w+\))?)\s+)*(?:struct|class|enum|protocol|actor|typealias)\s+(\w+)/
      let extended = /(?:(?:public|package|private|fileprivate)\s+)*extension\s+(\w+)/
      let member = /\b(?:func|var|let|case)\s+(\w+)/
      var (types, members): (Set<String>, Set<String>) = ([], [])
      var (added, current): ([String: Set<String>], String?) = ([:], nil)
      for line in lines where !line.isEmpty {
        if line.first != " ", line.first != "}" {
          if let match = line.prefixMatch(of: declaredType) { types.insert(String(match.1)) }
          if let match = line.prefixMatch(of: extended) { current = String(match.1) }
        } else if line.hasPrefix("}") {
          current = nil
        }
        guard let match = line.firstMatch(of: member) else { continue }
        members.insert(String(match.1))
        if let current, line.hasPrefix("  "), !line.hasPrefix("   "), !line.contains("private ") {
          added[current, default: []].insert(String(match.1))
        }
      }
      return (types, members, added)
    }
  }

  func files(of room: String) -> [Source] { sources[room] ?? [] }

  func types(of room: String) -> Set<String> { files(of: room).reduce(into: []) { $0.formUnion($1.types) } }

  /// The folders that hold sources.
  func folders() throws -> Set<String> {
    let folder = Self.root.appending(path: module)
    let found = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
    return Set(
      found.filter { $0.hasSuffix(".swift") && $0.contains("/") }
        .map { $0.split(separator: "/").dropLast().joined(separator: "/") })
  }

  /// The types of rooms above that the files of a room name, as "Room/File.swift: Type".
  func upwardNames() -> [String] {
    var found: [String] = []
    for (height, room) in floors.enumerated() {
      let above = floors[(height + 1)...].reduce(into: Set<String>()) { $0.formUnion(types(of: $1)) }
        .subtracting(types(of: room))
      for file in files(of: room) {
        found += file.words.intersection(above).sorted().map { "\(room)/\(file.name): \($0)" }
      }
    }
    return found
  }

  /// The members that a room's files use and that only extensions in rooms above add to types below.
  func upwardMembers() -> [String] {
    var found: [String] = []
    var (types, known): (Set<String>, Set<String>) = ([], [])
    for (height, room) in floors.enumerated() {
      for file in files(of: room) {
        types.formUnion(file.types)
        known.formUnion(file.members)
      }
      var above: Set<String> = []
      for file in floors[(height + 1)...].flatMap({ files(of: $0) }) {
        for (type, members) in file.extensionMembers where types.contains(type) { above.formUnion(members) }
      }
      above.subtract(known)
      for file in files(of: room) {
        let suspects = file.words.intersection(above)
        guard !suspects.isEmpty else { continue }
        let used = Set(file.code.matches(of: /\.(\w+)/).map { String($0.1) })
        found += suspects.intersection(used).sorted().map { "\(room)/\(file.name): \($0)" }
      }
    }
    return found
  }
}
