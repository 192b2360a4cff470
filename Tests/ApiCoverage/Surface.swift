import ArgumentParser
import Foundation

/// A type or member that code written for RealmSwift may use. It is a row of `surface.tsv`.
struct SurfaceRow {
  enum Kind: String {
    case `class`, `enum`, `protocol`, `struct`, `typealias`
    case `case`, `init`, method, `operator`, property, `subscript`
    /// The type conforms to a protocol. The row's member is the protocol.
    case conformance

    var isType: Bool {
      switch self {
      case .class, .enum, .protocol, .struct, .typealias: true
      default: false
      }
    }
  }

  let area: String
  /// The name of the type. Types inside of others are written with dots. The name is empty for functions outside of
  /// types.
  let type: String
  /// The name of the member; empty for the type itself.
  let member: String
  let kind: Kind
  /// The tier. Rows of tier 1 are used in nearly all programs, those of tier 2 in many, those of tier 3 in few. Rows of
  /// tier X belong to Apple's systems.
  let tier: String
  let note: String
  /// The facts beside the name that programs rely on.
  let facts: Set<Fact>

  enum Fact: String {
    /// The property or subscript can be set.
    case set
    /// The class can be subclassed, or the member can be overridden.
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

  /// The facts in a field; nil if one of them is unknown.
  private static func facts(_ field: String) -> Set<Fact>? {
    let names = field.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
    let facts = names.compactMap(Fact.init)
    return facts.count == names.count ? Set(facts) : nil
  }

  /// The name of the row with its labels, such as `add(_:update:)`.
  var title: String {
    if kind == .conformance { return "\(type): \(member)" }
    return member.isEmpty ? type : type.isEmpty ? member : "\(type).\(member)"
  }

  /// The constraints in the note, such as `where Element: ObjectBase`; nil if it has none.
  var conditions: [Constraint]? {
    let clauses = note.split(separator: ";").compactMap { part in
      part.range(of: "where ").map { Constraint.all(in: part[$0.upperBound...].prefix { $0 != "(" }) }
    }
    return clauses.isEmpty ? nil : clauses.flatMap { $0 }
  }

  /// The words in code that uses the row: its name, or for an initializer the type and the labels. Operators and
  /// subscripts have no words of their own, so their type is used.
  var words: [Substring] {
    let parts = (member.isEmpty ? type.split(separator: ".").last.map(String.init) ?? "" : member)
      .split { "(:)".contains($0) }.filter { $0 != "_" }
    switch kind {
    // A program relies on a conformance without naming it.
    case .conformance: return []
    case .operator, .subscript: return type.split(separator: ".").suffix(1)
    case .`init`: return type.split(separator: ".").suffix(1) + parts.dropFirst()
    default: return Array(parts.prefix(1))
    }
  }

  /// Whether the row is in the scope of this project. Rows of Apple's systems are not, except those with which older
  /// models are written.
  var isWanted: Bool {
    tier != "X" || ["RealmOptional", "RealmEnum"].contains(type)
      || ["primaryKey()", "ignoredProperties()", "indexedProperties()"].contains(member)
  }

  /// Whether the row belongs to device sync or to an area that comes later.
  var isLater: Bool {
    !["model", "realm", "collections", "values", "schema", "threading", "notifications", "migration"]
      .contains(area)
      || ["AnyBSON", "BSON", "Document", "MaxKey", "MinKey", "PartitionValue"].contains(type)
      || note.contains("conforms to BSON") || note.contains("; sync") || member.hasPrefix("asyncOpen")
      || type == "Realm.AsyncOpenTask" || title == "Realm.Error.callFailed" || title == "Realm.autorefresh"
  }

  /// The type in the note of what is read or returned.
  var resultType: String? {
    guard let arrow = note.range(of: "-> ", options: .backwards), !note[..<arrow.lowerBound].contains("(")
    else {
      return nil
    }
    let rest = note[arrow.upperBound...]
    return rest.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
  }

  /// The protocol to which, according to the note, a type of the standard library or of Foundation conforms.
  var conformance: String? {
    if note.contains("made a legal @Persisted") { return "_Persistable" }
    if note.contains("conforms to BSON") { return "BSON" }
    return nil
  }
}
