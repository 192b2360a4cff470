import ArgumentParser
import Foundation

/// A type or member that code written for RealmSwift may use: a row of `surface.tsv`.
struct SurfaceRow {
  enum Kind: String {
    case `class`, `enum`, `protocol`, `struct`, `typealias`
    case `case`, `init`, method, `operator`, property, `subscript`
    /// That a type conforms to a protocol; the row's member is the protocol.
    case conformance

    var isType: Bool {
      switch self {
      case .class, .enum, .protocol, .struct, .typealias: true
      default: false
      }
    }
  }

  let area: String
  /// Types inside of others are written with dots; empty for functions outside of types.
  let type: String
  /// Empty for the type itself.
  let member: String
  let kind: Kind
  /// 1: in nearly every program; 2: in many; 3: in few; X: of Apple's systems.
  let tier: String
  let note: String
  /// What a program relies on beyond the name.
  let facts: Set<Fact>

  enum Fact: String {
    /// A property or subscript can be set.
    case set
    /// A class can be subclassed, a member overridden.
    case open
    /// Each subclass has the initializer.
    case required
  }

  static func all(in file: URL) throws -> [SurfaceRow] {
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").dropFirst()
    return try lines.enumerated().map { index, line in
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      guard fields.count == 7, let kind = Kind(rawValue: fields[3]), let facts = Self.facts(fields[6]) else {
        throw ValidationError(
          "\(file.lastPathComponent), line \(index + 2): seven fields, the fourth a kind, the seventh facts.")
      }
      return SurfaceRow(
        area: fields[0], type: fields[1], member: fields[2], kind: kind, tier: fields[4], note: fields[5],
        facts: facts)
    }
  }

  /// Nil where one of them is unknown.
  private static func facts(_ field: String) -> Set<Fact>? {
    let names = field.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
    let facts = names.compactMap(Fact.init)
    return facts.count == names.count ? Set(facts) : nil
  }

  /// What is asked for by name, with its labels: `add(_:update:)`.
  var title: String {
    if kind == .conformance { return "\(type): \(member)" }
    return member.isEmpty ? type : type.isEmpty ? member : "\(type).\(member)"
  }

  /// What the note says that generic parameters must be, `where Element: ObjectBase`; nil where it says nothing.
  var conditions: [Constraint]? {
    let clauses = note.split(separator: ";").compactMap { part in
      part.range(of: "where ").map { Constraint.all(in: part[$0.upperBound...].prefix { $0 != "(" }) }
    }
    return clauses.isEmpty ? nil : clauses.flatMap { $0 }
  }

  /// The words that code which uses it has: its name; of an initializer its type and labels. Operators and subscripts have
  /// none of their own.
  var words: [Substring] {
    let parts = (member.isEmpty ? type.split(separator: ".").last.map(String.init) ?? "" : member)
      .split { "(:)".contains($0) }.filter { $0 != "_" }
    switch kind {
    // A program relies on it without naming it.
    case .conformance: return []
    case .operator, .subscript: return type.split(separator: ".").suffix(1)
    case .`init`: return type.split(separator: ".").suffix(1) + parts.dropFirst()
    default: return Array(parts.prefix(1))
    }
  }

  /// Rows of Apple's systems are none of ours, but for what models of old are written with.
  var isWanted: Bool {
    tier != "X" || ["RealmOptional", "RealmEnum"].contains(type)
      || ["primaryKey()", "ignoredProperties()", "indexedProperties()"].contains(member)
  }

  /// Rows of areas that are still to be begun, and of sync.
  var isLater: Bool {
    !["model", "realm", "collections", "values", "schema", "threading", "notifications", "migration"]
      .contains(area)
      || ["AnyBSON", "BSON", "Document", "MaxKey", "MinKey", "PartitionValue"].contains(type)
      || note.contains("conforms to BSON") || note.contains("; sync") || member.hasPrefix("asyncOpen")
      || type == "Realm.AsyncOpenTask" || title == "Realm.Error.callFailed" || title == "Realm.autorefresh"
  }

  /// The type that the note gives for what is read or returned.
  var resultType: String? {
    guard let arrow = note.range(of: "-> ", options: .backwards), !note[..<arrow.lowerBound].contains("(")
    else {
      return nil
    }
    let rest = note[arrow.upperBound...]
    return rest.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
  }

  /// The protocol that the note says a type of the standard library or of Foundation conforms to.
  var conformance: String? {
    if note.contains("made a legal @Persisted") { return "_Persistable" }
    if note.contains("conforms to BSON") { return "BSON" }
    return nil
  }
}
