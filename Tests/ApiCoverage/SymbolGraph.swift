import Foundation

/// The public declarations of a built module as `swift-symbolgraph-extract` writes them.
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
    let swiftGenerics: Generics?

    struct Generics: Decodable {
      let parameters: [Parameter]?
      let constraints: [Bound]?
    }

    struct Parameter: Decodable {
      let name: String
      /// The depth of the parameter; 0 if it belongs to the type around the member.
      let depth: Int
    }

    struct Availability: Decodable { let isUnconditionallyUnavailable: Bool? }

    /// Whether the symbol is public. The compiler lists public names that begin with an underscore only together with
    /// the internal names of the module, so the graph has those, too.
    var isPublic: Bool { accessLevel == "public" || accessLevel == "open" }
    var isAvailable: Bool { availability?.contains { $0.isUnconditionallyUnavailable == true } != true }
    var declaration: String { declarationFragments?.map(\.spelling).joined() ?? "" }
    var words: Set<Substring> { Set(declaration.split { !$0.isLetter }) }
    var constraints: [Constraint] { swiftGenerics?.constraints?.map(\.constraint) ?? [] }

    /// The facts of the surface that are true for the symbol.
    var facts: Set<SurfaceRow.Fact> {
      var facts: Set<SurfaceRow.Fact> = accessLevel == "open" ? [.open] : []
      if words.contains("required") { facts.insert(.required) }
      // A property that can only be read has a list of accessors without `set`, or is declared by `let`.
      if declaration.contains("{") ? words.contains("set") : words.contains("var") { facts.insert(.set) }
      return facts
    }
  }

  /// A constraint in the form that the compiler writes.
  struct Bound: Decodable {
    let kind: String
    let lhs: String
    let rhs: String

    var constraint: Constraint { Constraint(lhs, rhs, isSameType: kind == "sameType") }
  }

  struct Relationship: Decodable {
    let kind: String
    let source: String
    let target: String
    let targetFallback: String?
    let swiftConstraints: [Bound]?
  }

  let symbols: [Symbol]
  let relationships: [Relationship]

  /// The symbol graphs of a module, and of its extensions of other modules' types.
  static func all(in folder: URL) throws -> [SymbolGraph] {
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    return try files.filter { $0.lastPathComponent.hasSuffix(".symbols.json") }
      .sorted { $0.path < $1.path }
      .map { try JSONDecoder().decode(SymbolGraph.self, from: Data(contentsOf: $0)) }
  }
}

/// The declarations, by the names that programs use.
struct Declarations {
  typealias Symbol = SymbolGraph.Symbol

  private var types: [String: [Symbol]] = [:]
  private var members: [String: [Symbol]] = [:]
  /// The classes and protocols that a type inherits from or conforms to, by the compiler's identifier of the type.
  private var parents: [String: Set<String>] = [:]
  private var names: [String: String] = [:]
  /// The constraints under which a type conforms to a protocol, by the identifier of the type and then that of the
  /// protocol.
  private var conditions: [String: [String: [[Constraint]]]] = [:]

  init(_ graphs: [SymbolGraph]) {
    for graph in graphs {
      for symbol in graph.symbols where symbol.isPublic && symbol.isAvailable { add(symbol) }
      for relationship in graph.relationships
      where ["conformsTo", "inheritsFrom"].contains(relationship.kind) {
        parents[relationship.source, default: []].insert(relationship.target)
        conditions[relationship.source, default: [:]][relationship.target, default: []].append(
          relationship.swiftConstraints?.map(\.constraint) ?? [])
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

  /// The members of a type, and those that it gets from its classes and protocols.
  func members(of type: String) -> [Symbol] {
    ancestors(of: type).flatMap { members[$0] ?? [] }
  }

  func conforms(_ type: String, to name: String) -> Bool { ancestors(of: type).contains(name) }

  /// The constraints under which a type conforms to a protocol, as one list for each way in which it conforms. The
  /// result is empty if the type conforms only by its class or by another protocol.
  func conditions(of type: String, for name: String) -> [[Constraint]] {
    (types[type] ?? []).flatMap { symbol in
      (conditions[symbol.identifier.precise] ?? [:]).flatMap { names[$0.key] == name ? $0.value : [] }
    }
  }

  /// The constraints on the generic parameters of a type itself.
  func constraints(of type: String) -> [Constraint] {
    (types[type] ?? []).filter { $0.kind.identifier != "swift.extension" }.flatMap(\.constraints)
  }

  /// The generic parameters of a type. The result is empty for a type of another module, whose symbol is not in the
  /// graph.
  func parameters(of type: String) -> [String] {
    symbols(of: type).flatMap { $0.swiftGenerics?.parameters?.map(\.name) ?? [] }
  }

  /// The symbols of the type's declaration, without extensions.
  func symbols(of type: String) -> [Symbol] {
    (types[type] ?? []).filter { $0.kind.identifier != "swift.extension" }
  }

  /// The type itself, and after it all its classes and protocols.
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
