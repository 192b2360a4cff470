import Foundation

/// What a generic parameter must be for a declaration to be there.
struct Constraint: Hashable {
  /// `Element`, `Value.PersistedType`
  let subject: String
  /// A protocol, a class, or the type it must be the same as.
  let bound: String
  let isSameType: Bool

  init(_ subject: some StringProtocol, _ bound: some StringProtocol, isSameType: Bool) {
    let (subject, bound) = (Self.plain(subject), Self.plain(bound))
    // Of two types that are to be the same it does not matter which stands first.
    let isInOrder = !isSameType || subject < bound
    self.subject = isInOrder ? subject : bound
    self.bound = isInOrder ? bound : subject
    self.isSameType = isSameType
  }

  /// Those of a clause: `Element: ObjectBase, S.Element == Element`.
  static func all(in clause: some StringProtocol) -> [Constraint] {
    clause.split(separator: ",").flatMap { part in
      if let equals = part.range(of: "==") {
        return [Constraint(part[..<equals.lowerBound], part[equals.upperBound...], isSameType: true)]
      }
      guard let colon = part.firstIndex(of: ":") else { return [] }
      let bounds = part[part.index(after: colon)...].split(separator: "&")
      return bounds.flatMap { bound in
        // Another name for two protocols.
        let names = bound.contains("Codable") ? ["Decodable", "Encodable"] : [String(bound)]
        return names.map { Constraint(part[..<colon], $0, isSameType: false) }
      }
    }
  }

  /// One spelling for one type.
  private static func plain(_ type: some StringProtocol) -> String {
    var text = String(type).filter { !$0.isWhitespace }
    text = text.replacing(".Iterator.", with: ".").replacing("List<Element>.Index", with: "Int")
    return text.hasPrefix("Self.") ? String(text.dropFirst("Self.".count)) : text
  }

  var text: String { "\(subject)\(isSameType ? " == " : ": ")\(bound)" }

  /// The generic parameters it speaks of: `Value` of `Value.PersistedType`.
  var parameters: Set<Substring> {
    let names = isSameType ? [subject, bound] : [subject]
    return Set(names.map { $0.prefix { $0 != "." } })
  }

  /// Whether another one speaks of the same in the same way.
  func isAbout(_ other: Constraint) -> Bool {
    guard isSameType == other.isSameType else { return false }
    return subject == other.subject || isSameType && (subject == other.bound || bound == other.subject)
      || isSameType && bound == other.bound
  }
}
