import Foundation

/// Which rows of the surface a module has.
struct Coverage {
  enum Finding {
    case there
    /// The declaration has this type instead of the one in the note.
    case differs(String)
    /// The name is there, but it lacks these things that programs rely on, in words.
    case lacks([String])
    case missing
  }

  let findings: [(row: SurfaceRow, finding: Finding)]

  init(_ rows: [SurfaceRow], _ declarations: Declarations) {
    findings = rows.filter(\.isWanted).map { ($0, Self.find($0, in: declarations)) }
  }

  private static func find(_ row: SurfaceRow, in declarations: Declarations) -> Finding {
    if let conformance = row.conformance {
      return declarations.conforms(row.type, to: conformance) ? .there : .missing
    }
    if row.note.contains("works when declared PersistableEnum") {
      return declarations.hasType("PersistableEnum") ? .there : .missing
    }
    if row.kind == .conformance { return findConformance(row, in: declarations) }
    if row.kind.isType && row.member.isEmpty {
      guard declarations.hasType(row.type) || isSlice(row, declarations) else { return .missing }
      return finding(lacks(row, declarations.symbols(of: row.type), declarations))
    }
    if row.kind.isType { return declarations.hasType(row.type + "." + row.member) ? .there : .missing }
    if let conformance = source(of: row), declarations.conforms(row.type, to: conformance) { return .there }
    var found = declarations.members(of: row.type).filter { matches($0, row) }
    if row.kind == .operator, !row.type.isEmpty {
      // An operator may be declared outside of the type that it is for.
      found += declarations.members(of: "").filter { matches($0, row) && $0.words.contains(row.type[...]) }
    }
    guard !found.isEmpty else { return .missing }
    guard let wanted = row.resultType else { return finding(lacks(row, found, declarations)) }
    let own = row.type.split(separator: ".").last.map(String.init) ?? row.type
    let alike = found.filter { symbol in
      let result = result(of: symbol)
      return equals(result, wanted) || equals(result.replacing("Self", with: own), wanted)
    }
    return alike.isEmpty ? .differs(result(of: found[0])) : finding(lacks(row, alike, declarations))
  }

  private static func finding(_ lacks: [String]) -> Finding { lacks.isEmpty ? .there : .lacks(lacks) }

  private static func findConformance(_ row: SurfaceRow, in declarations: Declarations) -> Finding {
    guard declarations.conforms(row.type, to: row.member) else { return .missing }
    let ways = declarations.conditions(of: row.type, for: row.member)
    let lacks = ways.map { unmet($0, row, declarations) }
    return finding(lacks.min { $0.count < $1.count } ?? [])
  }

  /// The parts that are missing in the declaration that comes nearest.
  private static func lacks(
    _ row: SurfaceRow, _ symbols: [SymbolGraph.Symbol], _ declarations: Declarations
  ) -> [String] {
    let lists = symbols.map { symbol in
      let missing = row.facts.subtracting(symbol.facts).map { "is not \($0.words)" }.sorted()
      return missing
        + unmet(
          conditions(of: symbol, row, declarations), row, declarations)
    }
    return lists.min { $0.count < $1.count } ?? []
  }

  /// The constraints of a member: those on the generic parameters of the type around it, and those on its own
  /// parameters if the note has a constraint on the same subject.
  private static func conditions(
    of symbol: SymbolGraph.Symbol, _ row: SurfaceRow, _ declarations: Declarations
  ) -> [Constraint] {
    guard !row.kind.isType else { return [] }
    // A function outside of types has no type around it.
    let around = symbol.pathComponents.count > 1 ? declarations.parameters(of: row.type) : []
    let own = Set((symbol.swiftGenerics?.parameters ?? []).map { $0.name[...] })
      .subtracting(around.map { $0[...] })
    return symbol.constraints.filter { asked in
      asked.parameters.isDisjoint(with: own) || (row.conditions ?? []).contains { $0.isAbout(asked) }
    }
  }

  /// The constraints, in words, that code written for RealmSwift need not meet. These are the constraints that follow
  /// neither from the note nor from the constraints of the type itself.
  private static func unmet(
    _ constraints: [Constraint], _ row: SurfaceRow, _ declarations: Declarations
  ) -> [String] {
    let given = declarations.constraints(of: row.type) + (row.conditions ?? [])
    return constraints.filter { asked in
      // All types that today's code can name satisfy these constraints.
      !["Copyable", "Escapable"].contains(asked.bound)
        && !given.contains { $0 == asked || implies($0, asked, declarations) }
    }.map { "asks that \($0.text)" }
  }

  private static func implies(_ given: Constraint, _ asked: Constraint, _ declarations: Declarations) -> Bool
  {
    guard !given.isSameType, !asked.isSameType, given.subject == asked.subject else { return false }
    return declarations.conforms(given.bound, to: asked.bound)
      || Self.alike.contains { $0 == (given.bound, asked.bound) }
  }

  /// Pairs of a constraint of RealmSwift and an equivalent one. Values that queries compare are values that properties
  /// may have. The things sorted by key paths are objects, and projections, which are counted in an area of their own.
  private static let alike = [("_HasPersistedType", "_Persistable"), ("KeypathSortable", "ObjectBase")]

  /// Whether the row is the type of a collection's slices. This type is inferred, so it has no symbol.
  private static func isSlice(_ row: SurfaceRow, _ declarations: Declarations) -> Bool {
    let parts = row.type.split(separator: ".")
    return parts.last == "SubSequence"
      && declarations.conforms(String(parts[0]), to: "RandomAccessCollection")
  }

  /// The protocol of the standard library whose conformance provides a member. Such a member is not among the module's
  /// own symbols.
  private static func source(of row: SurfaceRow) -> String? {
    if row.note.contains("via RandomAccessCollection") || row.note == "Range<Int> -> Slice" {
      return "RandomAccessCollection"
    }
    switch row.member {
    case "count": return "RandomAccessCollection"
    case "==(lhs:rhs:)": return "Equatable"
    case "hash(into:)": return "Hashable"
    case "<=(lhs:rhs:)", ">(lhs:rhs:)", ">=(lhs:rhs:)": return "Comparable"
    case "init(from:)": return "Decodable"
    case "encode(to:)": return "Encodable"
    default: return nil
    }
  }

  private static func matches(_ symbol: SymbolGraph.Symbol, _ row: SurfaceRow) -> Bool {
    guard let name = symbol.pathComponents.last else { return false }
    switch row.kind {
    case .operator:
      return symbol.kind.identifier.hasSuffix(".op")
        && name.prefix { $0 != "(" } == row.member.prefix { $0 != "(" }
    case .`init`:
      // The surface writes a failable initializer with its question mark, and the symbols write it without.
      return symbol.kind.identifier == "swift.init"
        && (name == row.member.replacing("init?", with: "init")
          // If no isolation is passed, it is the isolation of the caller.
          || name.replacing("_isolation:", with: "") == row.member)
    case .method:
      return symbol.kind.identifier.hasSuffix("method") && name == row.member || isFunction(symbol, row)
    case .property:
      return symbol.kind.identifier.hasSuffix("property") && name == row.member || isCase(symbol, row)
    case .subscript: return symbol.kind.identifier.hasSuffix("subscript") && name == row.member
    case .case:
      return isCase(symbol, row) || symbol.kind.identifier == "swift.type.property" && name == row.member
    default: return false
    }
  }

  private static func isFunction(_ symbol: SymbolGraph.Symbol, _ row: SurfaceRow) -> Bool {
    row.type.isEmpty && symbol.kind.identifier == "swift.func" && symbol.pathComponents.last == row.member
  }

  private static func isCase(_ symbol: SymbolGraph.Symbol, _ row: SurfaceRow) -> Bool {
    symbol.kind.identifier == "swift.enum.case" && symbol.pathComponents.last == row.member
  }

  /// The part of a declaration after its last arrow, or after the colon of a property.
  private static func result(of symbol: SymbolGraph.Symbol) -> String {
    var text = symbol.declaration
    if let condition = text.range(of: " where ") { text = String(text[..<condition.lowerBound]) }
    if let accessors = text.range(of: " { ") { text = String(text[..<accessors.lowerBound]) }
    let isValue = symbol.kind.identifier.hasSuffix("property")
    guard let mark = isValue ? text.range(of: ": ") : text.range(of: "-> ", options: .backwards) else {
      return ""
    }
    return String(text[mark.upperBound...])
  }

  /// Whether two spellings mean the same type, with or without the type around it.
  private static func equals(_ left: String, _ right: String) -> Bool {
    func plain(_ type: String) -> String {
      // A result that may be sent elsewhere can be used wherever sending is not needed.
      type.replacing("Realm.Configuration", with: "Configuration").replacing("Self.", with: "")
        .replacing("sending ", with: "").replacing(/\w+<[^<>]*>\.Element/, with: "Element")
        .filter { $0 != " " }
    }
    // A symbol has the full name of a type inside of another type.
    return plain(left) == plain(right) || plain(left).hasSuffix("." + plain(right))
  }

  // MARK: - Telling

  /// The table for the README. It says for each area how much of it is there.
  var table: String {
    var lines = ["| area | there | of | missing | later |", "| --- | ---: | ---: | ---: | ---: |"]
    var total = Counts()
    for area in areas {
      let counts = counts(of: area)
      total.add(counts)
      lines.append(counts.line(area))
    }
    lines.append(total.line("**all**"))
    return lines.joined(separator: "\n")
  }

  private var areas: [String] {
    var areas: [String] = []
    for (row, _) in findings where !areas.contains(row.area) { areas.append(row.area) }
    return areas
  }

  private struct Counts {
    var there = 0
    var missing = 0
    var later = 0

    mutating func add(_ other: Counts) {
      there += other.there
      missing += other.missing
      later += other.later
    }

    func line(_ title: String) -> String {
      "| \(title) | \(there) | \(there + missing + later) | \(missing) | \(later) |"
    }
  }

  private func counts(of area: String) -> Counts {
    var counts = Counts()
    for (row, finding) in findings where row.area == area {
      if case .there = finding {
        counts.there += 1
      } else if row.isLater {
        counts.later += 1
      } else {
        counts.missing += 1
      }
    }
    return counts
  }

  /// The rows of tiers 1 and 2 that are there and that no test names, without the areas that come later.
  func untested(_ words: Set<Substring>) -> [String] {
    findings.compactMap { row, finding in
      guard row.tier == "1" || row.tier == "2", !row.isLater, case .there = finding else { return nil }
      return row.words.allSatisfy(words.contains) ? nil : row.title
    }
  }

  /// The rows that are not there, or not as the note says.
  func gaps(in area: String?, later: Bool) -> [String] {
    findings.compactMap { row, finding in
      guard area == nil || row.area == area, later || !row.isLater else { return nil }
      let what = "\(row.area), tier \(row.tier): \(row.kind.rawValue) \(row.title)"
      switch finding {
      case .there: return nil
      case .missing: return what
      case .differs(let type): return "\(what) is \(type), not \(row.resultType ?? "")"
      case .lacks(let lacks): return "\(what) \(lacks.joined(separator: ", "))"
      }
    }
  }
}

extension SurfaceRow.Fact {
  fileprivate var words: String {
    switch self {
    case .set: "settable"
    case .open: "open"
    case .required: "required"
    }
  }
}
