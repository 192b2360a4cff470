import Foundation

/// A condition on a generic parameter under which a declaration is available.
struct Constraint: Hashable {
  /// The constrained type, such as `Element` or `Value.PersistedType`.
  let subject: String
  /// The protocol, the class, or the type that the subject must be the same as.
  let bound: String
  let isSameType: Bool

  init(_ subject: some StringProtocol, _ bound: some StringProtocol, isSameType: Bool) {
    let (subject, bound) = (Self.plain(subject), Self.plain(bound))
    // The order of two types that must be the same does not matter.
    let isInOrder = !isSameType || subject < bound
    self.subject = isInOrder ? subject : bound
    self.bound = isInOrder ? bound : subject
    self.isSameType = isSameType
  }

  /// The constraints of a clause such as `Element: ObjectBase, S.Element == Element`.
  static func all(in clause: some StringProtocol) -> [Constraint] {
    clause.split(separator: ",").flatMap { part in
      if let equals = part.range(of: "==") {
        return [Constraint(part[..<equals.lowerBound], part[equals.upperBound...], isSameType: true)]
      }
      guard let colon = part.firstIndex(of: ":") else { return [] }
      let bounds = part[part.index(after: colon)...].split(separator: "&")
      return bounds.flatMap { bound in
        // `Codable` is another name for two protocols.
        let names = bound.contains("Codable") ? ["Decodable", "Encodable"] : [String(bound)]
        return names.map { Constraint(part[..<colon], $0, isSameType: false) }
      }
    }
  }

  /// The type in a single spelling, without what spellings of the same type may differ in.
  private static func plain(_ type: some StringProtocol) -> String {
    var text = String(type).filter { !$0.isWhitespace }
    text = text.replacing(".Iterator.", with: ".").replacing("List<Element>.Index", with: "Int")
    return text.hasPrefix("Self.") ? String(text.dropFirst("Self.".count)) : text
  }

  var text: String { "\(subject)\(isSameType ? " == " : ": ")\(bound)" }

  /// The generic parameters in the constraint, such as `Value` in `Value.PersistedType`.
  var parameters: Set<Substring> {
    let names = isSameType ? [subject, bound] : [subject]
    return Set(names.map { $0.prefix { $0 != "." } })
  }

  /// Whether another constraint is of the same kind and has the same subject.
  func isAbout(_ other: Constraint) -> Bool {
    guard isSameType == other.isSameType else { return false }
    return subject == other.subject || isSameType && (subject == other.bound || bound == other.subject)
      || isSameType && bound == other.bound
  }
}
