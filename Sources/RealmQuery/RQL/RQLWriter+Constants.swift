import RealmStorage

extension RQLWriter {
  /// The token that a text consists of; nil if the text is not exactly one token.
  static func onlyToken(_ text: String) -> RQLToken.Kind? {
    var lexer = RQLLexer(SourceText(text))
    guard let token = try? lexer.next(), token.range.lowerBound == 0,
      token.range.upperBound == text.utf8.count
    else { return nil }
    return token.kind
  }

  /// The text between quotation marks, without escapes. Throws if RQL can't express it in this way.
  func quoted(_ text: String, _ node: QuerySyntax.Node) throws(QueryError) -> String {
    guard let quoted = Self.quoted(text) else {
      throw QueryError(lacking: "the key \(QueryError.shown(text))", node.range)
    }
    return quoted
  }

  /// The text between quotation marks; nil if it has quotation marks of both kinds, or backslashes, unless they are
  /// escapes that RQL accepts.
  private static func quoted(_ text: String) -> String? {
    for quote in ["'", "\""] {
      let quoted = quote + text + quote
      if case .string(let read) = onlyToken(quoted), read.utf8.elementsEqual(text.utf8) { return quoted }
    }
    return nil
  }

  func text(_ constant: QuerySyntax.Constant, _ node: QuerySyntax.Node) throws(QueryError) -> String {
    switch constant {
    case .value(let value): return try text(value, node)
    case .real(let literal): return literal.text + (literal.isFloat ? "f" : "")
    case .object(let className, let key):
      let keyText =
        switch key {
        case .value(let value): try text(value, node)
        case .argument(let position): "$\(position)"
        }
      return "obj(\(try quoted(className, node)), \(keyText))"
    }
  }

  private func text(_ value: Value, _ node: QuerySyntax.Node) throws(QueryError) -> String {
    switch value {
    case .null: return "NULL"
    case .bool(let flag): return flag ? "TRUE" : "FALSE"
    case .int(let number): return "\(number)"
    case .float(let number): return try text(.real(QuerySyntax.RealLiteral(number)), node)
    case .double(let number): return try text(.real(QuerySyntax.RealLiteral(number)), node)
    case .string(let text): return Self.quoted(text) ?? "B64\"\(Base64.encode(Array(text.utf8)))\""
    case .data(let bytes): return "binary(B64\"\(Base64.encode(bytes))\")"
    case .date(let date): return Self.text(date)
    case .objectID(let id): return "oid(\(Self.hex(id.bytes)))"
    case .uuid(let id):
      let digits = Array(Self.hex(id.bytes))
      let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
      return "uuid(\(groups.joined(separator: "-")))"
    case .link(let row): return "O\(row)"
    case .typedLink(let table, let row): return "L\(table):\(row)"
    case .decimal128, .list, .map:
      throw QueryError(lacking: "a constant of this type: pass it as an argument", node.range)
    }
  }

  /// A date as seconds and nanoseconds, which have the same sign.
  private static func text(_ date: Timestamp) -> String {
    guard date.seconds < 0, date.nanoseconds > 0 else { return "T\(date.seconds):\(date.nanoseconds)" }
    return "T\(date.seconds + 1):\(date.nanoseconds - 1_000_000_000)"
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  func text(_ shape: QuerySyntax.GeoShape) -> String {
    switch shape {
    case .box(let first, let second): return "geoBox(\(Self.text(first)), \(Self.text(second)))"
    case .circle(let center, let radius): return "geoCircle(\(Self.text(center)), \(Self.text(radius)))"
    case .polygon(let rings):
      let texts = rings.map { "{" + $0.map(Self.text).joined(separator: ", ") + "}" }
      return "geoPolygon(\(texts.joined(separator: ", ")))"
    }
  }

  private static func text(_ point: QuerySyntax.GeoPoint) -> String {
    let altitude = point.altitude.map { ", \($0)" } ?? ""
    return "[\(text(point.longitude)), \(text(point.latitude))\(altitude)]"
  }

  private static func text(_ coordinate: QuerySyntax.Coordinate) -> String {
    switch coordinate {
    case .number(let number): "\(number)"
    case .argument(let position): "$\(position)"
    }
  }
}

extension QueryError {
  /// Makes the error about a part of a query that RQL can't express.
  init(lacking what: String, _ range: SourceRange) {
    self.init(.invalidQuery, "RQL lacks \(what)", place: range)
  }

  private init(_ kind: Kind, _ message: String, place: SourceRange) {
    self.kind = kind
    self.message = message
    range = place.lowerBound..<max(place.lowerBound, place.upperBound)
    expected = []
    suggestion = nil
    excerpt = nil
  }
}
