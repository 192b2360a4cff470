import Foundation

/// Which rows of the surface a module has.
struct Coverage {
  enum Finding {
    case there
    /// Another type than the note gives.
    case differs(String)
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
    if row.kind.isType && row.member.isEmpty {
      return declarations.hasType(row.type) || isSlice(row, declarations) ? .there : .missing
    }
    if row.kind.isType { return declarations.hasType(row.type + "." + row.member) ? .there : .missing }
    if let conformance = source(of: row), declarations.conforms(row.type, to: conformance) { return .there }
    let found = declarations.members(of: row.type).filter { matches($0, row) }
    guard !found.isEmpty else { return .missing }
    guard let wanted = row.resultType else { return .there }
    let results = found.map { result(of: $0) }
    return results.contains { equals($0, wanted) } ? .there : .differs(results[0])
  }

  /// The type of a collection's parts is inferred, so that no symbol tells of it.
  private static func isSlice(_ row: SurfaceRow, _ declarations: Declarations) -> Bool {
    let parts = row.type.split(separator: ".")
    return parts.last == "SubSequence"
      && declarations.conforms(String(parts[0]), to: "RandomAccessCollection")
  }

  /// The protocol of the standard library whose conformance brings a member, which the module's own symbols don't tell.
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
      // A failable one is written with its mark here.
      return symbol.kind.identifier == "swift.init" && name == row.member.replacing("init?", with: "init")
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

  /// What a declaration says after its last arrow, or after its colon.
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

  /// Whether two spellings are of one type: with or without the type around it.
  private static func equals(_ left: String, _ right: String) -> Bool {
    func plain(_ type: String) -> String {
      type.replacing("Realm.Configuration", with: "Configuration").replacing("Self.", with: "")
        .filter { $0 != " " }
    }
    // A type inside of another is told by its whole name.
    return plain(left) == plain(right) || plain(left).hasSuffix("." + plain(right))
  }

  // MARK: - Telling

  /// A table for the README: each area, what of it is there.
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

  /// The rows of tier 1 and 2, in the areas that are begun, that are there and that no test names.
  func untested(_ words: Set<Substring>) -> [String] {
    findings.compactMap { row, finding in
      guard row.tier == "1" || row.tier == "2", !row.isLater, case .there = finding else { return nil }
      return row.words.allSatisfy(words.contains) ? nil : row.title
    }
  }

  /// What is not there, row by row.
  func gaps(in area: String?, later: Bool) -> [String] {
    findings.compactMap { row, finding in
      guard area == nil || row.area == area, later || !row.isLater else { return nil }
      switch finding {
      case .there: return nil
      case .missing: return "\(row.area), tier \(row.tier): \(row.kind.rawValue) \(row.title)"
      case .differs(let type):
        return
          "\(row.area), tier \(row.tier): \(row.kind.rawValue) \(row.title) is \(type), not \(row.resultType ?? "")"
      }
    }
  }
}
