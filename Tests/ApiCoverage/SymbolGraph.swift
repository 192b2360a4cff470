import Foundation

/// What the compiler says of a built module's public declarations (`swift-symbolgraph-extract`).
struct SymbolGraph: Decodable {
  struct Symbol: Decodable {
    struct Kind: Decodable { let identifier: String }
    struct Identifier: Decodable { let precise: String }
    struct Fragment: Decodable {
      let kind: String
      let spelling: String
      let preciseIdentifier: String?
    }

    let kind: Kind
    let identifier: Identifier
    let pathComponents: [String]
    let declarationFragments: [Fragment]?
    let availability: [Availability]?
    let accessLevel: String

    struct Availability: Decodable { let isUnconditionallyUnavailable: Bool? }

    /// Names that begin with an underscore are told with those of the module alone.
    var isPublic: Bool { accessLevel == "public" || accessLevel == "open" }
    var isAvailable: Bool { availability?.contains { $0.isUnconditionallyUnavailable == true } != true }
    var declaration: String { declarationFragments?.map(\.spelling).joined() ?? "" }
  }

  struct Relationship: Decodable {
    let kind: String
    let source: String
    let target: String
    let targetFallback: String?
  }

  let symbols: [Symbol]
  let relationships: [Relationship]

  /// That of a module and of what it adds to other modules' types.
  static func all(in folder: URL) throws -> [SymbolGraph] {
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    return try files.filter { $0.lastPathComponent.hasSuffix(".symbols.json") }
      .sorted { $0.path < $1.path }
      .map { try JSONDecoder().decode(SymbolGraph.self, from: Data(contentsOf: $0)) }
  }
}

/// Declarations by the names that programs use.
struct Declarations {
  typealias Symbol = SymbolGraph.Symbol

  private var types: [String: [Symbol]] = [:]
  private var members: [String: [Symbol]] = [:]
  /// Of a type, by the compiler's identifier: classes and protocols it is also one of.
  private var parents: [String: Set<String>] = [:]
  private var names: [String: String] = [:]

  init(_ graphs: [SymbolGraph]) {
    for graph in graphs {
      for symbol in graph.symbols where symbol.isPublic && symbol.isAvailable { add(symbol) }
      for relationship in graph.relationships
      where ["conformsTo", "inheritsFrom"].contains(relationship.kind) {
        parents[relationship.source, default: []].insert(relationship.target)
        if let name = relationship.targetFallback { names[relationship.target] = Self.bare(name) }
      }
    }
  }

  private mutating func add(_ symbol: Symbol) {
    let path = symbol.pathComponents.joined(separator: ".")
    switch symbol.kind.identifier {
    case "swift.class", "swift.struct", "swift.enum", "swift.protocol", "swift.typealias", "swift.extension",
      "swift.associatedtype":
      types[path, default: []].append(symbol)
      if names[symbol.identifier.precise] == nil { names[symbol.identifier.precise] = path }
    default:
      let owner = symbol.pathComponents.dropLast().joined(separator: ".")
      members[owner, default: []].append(symbol)
    }
  }

  func hasType(_ name: String) -> Bool {
    types[name]?.contains { $0.kind.identifier != "swift.extension" } ?? false
  }

  /// The members of a type, and those that it has from its classes and protocols.
  func members(of type: String) -> [Symbol] {
    ancestors(of: type).flatMap { members[$0] ?? [] }
  }

  func conforms(_ type: String, to name: String) -> Bool { ancestors(of: type).contains(name) }

  /// The type itself first.
  private func ancestors(of type: String) -> [String] {
    var found = [type]
    var next = 0
    while next < found.count {
      for symbol in types[found[next]] ?? [] {
        var targets = parents[symbol.identifier.precise] ?? []
        if symbol.kind.identifier == "swift.typealias" {
          targets.formUnion((symbol.declarationFragments ?? []).compactMap(\.preciseIdentifier))
        }
        for name in targets.compactMap({ names[$0] }).sorted() where !found.contains(name) {
          found.append(name)
        }
      }
      next += 1
    }
    return found
  }

  /// A name without its module.
  private static func bare(_ name: String) -> String {
    name.split(separator: ".", maxSplits: 1).last.map(String.init) ?? name
  }
}
