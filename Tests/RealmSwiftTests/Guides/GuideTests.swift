import Foundation
import Synchronization
import Testing

/// The lines that a listing prints, on any thread.
final class Printed: Sendable {
  private let lines = Mutex("")
  var text: String { lines.withLock { $0 } }

  func callAsFunction(_ items: Any...) {
    let line = items.map { "\($0)" }.joined(separator: " ") + "\n"
    lines.withLock { $0 += line }
  }
}

/// The guides' code, with a name for each piece. In the sources a listing is between `// listing: name` and `// end`.
enum Listings {
  typealias Listing = @Sendable (_ print: Printed) throws -> Void
  typealias AsyncListing = @Sendable (_ print: Printed) async throws -> Void
  static let all: [String: Listing] = [
    models, values, opening, writing, copying, following, typedQueries, textQueries, threads, changing,
    failing, limits, backingUp, openingCosts, moving, durability,
  ].reduce(into: [:]) { found, listings in found.merge(listings) { first, _ in first } }
  static let names = Set(all.keys).union(tasks.keys).union(observing.keys)

  /// The lines that a listing prints; nil if it is not run.
  static func printed(by name: String) async throws -> String? {
    let printed = Printed()
    if let listing = all[name] {
      try listing(printed)
    } else if let listing = tasks[name] ?? observing[name] {
      try await listing(printed)
    } else {
      return nil
    }
    return printed.text
  }
}

/// The guides show code that is compiled, and its output. `REALM_WRITE_GUIDES=1` writes both into the guides.
@Suite(.serialized) struct GuideTests {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private static func files(in folder: String, ending: String) throws -> [URL] {
    try FileManager.default.contentsOfDirectory(
      at: root.appending(path: folder), includingPropertiesForKeys: nil
    ).filter { $0.lastPathComponent.hasSuffix(ending) }.sorted { $0.path < $1.path }
  }

  /// The code of the listings by their names, without its indentation.
  private static func code() throws -> [String: String] {
    var found: [String: String] = [:]
    let sources =
      try files(in: "Tests/RealmSwiftTests/Guides", ending: "Listings.swift")
      + files(in: "Tests/MainActorTests", ending: ".swift")
    for file in sources {
      var name: String?
      var lines: [Substring] = []
      for line in try String(contentsOf: file, encoding: .utf8).split(
        separator: "\n", omittingEmptySubsequences: false)
      {
        let text = line.drop { $0 == " " }
        if text.hasPrefix("// listing: ") {
          name = String(text.dropFirst("// listing: ".count))
        } else if text == "// end", let ended = name {
          let indent = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
          found[ended] = lines.map { String($0.dropFirst(indent)) }.joined(separator: "\n")
          (name, lines) = (nil, [])
        } else if name != nil {
          lines.append(line)
        }
      }
    }
    return found
  }

  @Test func `each guide shows the code that runs, and what it prints`() async throws {
    let code = try Self.code()
    var shown = Set<String>()
    for guide in try Self.files(in: "docs/guides", ending: ".md") {
      let text = try String(contentsOf: guide, encoding: .utf8)
      var made: [String] = []
      var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)[...]
      while let line = lines.popFirst() {
        made.append(line)
        guard line.hasPrefix("<!-- listing: "), line.hasSuffix(" -->") else { continue }
        let name = String(line.dropFirst("<!-- listing: ".count).dropLast(" -->".count))
        shown.insert(name)
        while lines.first?.hasPrefix("```") == true {
          lines.removeFirst()
          while let next = lines.popFirst(), next != "```" {}
        }
        let listing = try #require(
          code[name], "\(guide.lastPathComponent) shows '\(name)', which is no listing")
        made += ["```swift", listing, "```"]
        guard let printed = try await Listings.printed(by: name) else { continue }
        if !printed.isEmpty { made += ["```text", String(printed.dropLast()), "```"] }
      }
      let expected = made.joined(separator: "\n")
      if ProcessInfo.processInfo.environment["REALM_WRITE_GUIDES"] != nil {
        try expected.write(to: guide, atomically: true, encoding: .utf8)
      } else {
        #expect(text == expected, "\(guide.lastPathComponent): run the tests with REALM_WRITE_GUIDES=1")
      }
    }
    #expect(Set(code.keys).subtracting(shown).isEmpty, "listings that no guide shows")
    #expect(Listings.names.subtracting(code.keys).isEmpty, "listings without their marks")
    #expect(code.count >= 30)
  }
}
