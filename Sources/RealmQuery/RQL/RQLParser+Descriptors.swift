extension RQLParser {
  /// Reads SORT, DISTINCT or LIMIT.
  mutating func descriptor() throws(QueryError) -> QuerySyntax.Descriptor {
    switch token.keyword {
    case .sort:
      return .sort(
        try inParentheses("SORT needs paths with directions in parentheses") {
          parser throws(QueryError) in try parser.sortKey()
        })
    case .distinct:
      return .distinct(
        try inParentheses("DISTINCT needs paths in parentheses") {
          parser throws(QueryError) in try parser.path(with: .nothing)
        })
    case .limit: return .limit(try limit())
    default:
      throw error(
        "Only SORT, DISTINCT or LIMIT can follow here", expected: ["SORT", "DISTINCT", "LIMIT", "the end"],
        words: ["SORT", "DISTINCT", "LIMIT"])
    }
  }

  private mutating func inParentheses<Part>(
    _ message: String, _ part: (inout RQLParser) throws(QueryError) -> Part
  ) throws(QueryError) -> [Part] {
    try advance()
    try expect(.openParenthesis, message)
    var parts = [try part(&self)]
    while token.isSymbol(.comma) {
      try advance()
      parts.append(try part(&self))
    }
    try expect(.closeParenthesis, "The parenthesis is not closed here", expected: [",", ")"])
    return parts
  }

  private mutating func sortKey() throws(QueryError) -> QuerySyntax.SortKey {
    let path = try path(with: .nothing)
    guard let keyword = token.keyword, keyword == .ascending || keyword == .descending else {
      throw error(
        "SORT needs a direction after each path", expected: ["ASC", "DESC"],
        words: ["ASC", "DESC", "ASCENDING", "DESCENDING"])
    }
    try advance()
    return .init(path, isAscending: keyword == .ascending)
  }

  private mutating func limit() throws(QueryError) -> Int64 {
    try advance()
    try expect(.openParenthesis, "LIMIT needs a number in parentheses")
    guard case .integer(let number, hasSign: false) = token.kind else {
      throw error("LIMIT needs a number without a sign", expected: ["a number"])
    }
    try advance()
    try expect(.closeParenthesis, "The parenthesis is not closed here")
    return number
  }

  // MARK: Shapes

  /// Reads the shape or the argument on the right of GEOWITHIN.
  mutating func geoOperand() throws(QueryError) {
    let range = token.range
    if case .argument(let position) = token.kind {
      try stack.operand(.argument(position), range: advance())
      return
    }
    let shape = try shape()
    stack.operand(.shape(shape), range: range.to(previous))
  }

  private mutating func shape() throws(QueryError) -> QuerySyntax.GeoShape {
    let keyword = token.keyword
    guard keyword == .geobox || keyword == .geocircle || keyword == .geopolygon else {
      throw error(
        "GEOWITHIN needs a shape on its right",
        expected: ["geoBox(...)", "geoCircle(...)", "geoPolygon(...)", "an argument such as $0"],
        words: ["geoBox", "geoCircle", "geoPolygon"])
    }
    if keyword == .geopolygon {
      return .polygon(
        try inParentheses("geoPolygon needs rings in parentheses") {
          parser throws(QueryError) in try parser.ring()
        })
    }
    try advance()
    try expect(.openParenthesis, "A shape needs its points in parentheses")
    let first = try point()
    try expect(.comma, "A comma is needed after the point")
    let shape: QuerySyntax.GeoShape =
      keyword == .geobox
      ? .box(first, try point())
      : .circle(center: first, radius: try coordinate("a radius"))
    try expect(.closeParenthesis, "The shape is not closed here")
    return shape
  }

  private mutating func ring() throws(QueryError) -> [QuerySyntax.GeoPoint] {
    try expect(.openBrace, "A ring needs its points in braces")
    var points = [try point()]
    while token.isSymbol(.comma) {
      try advance()
      points.append(try point())
    }
    try expect(.closeBrace, "The ring is not closed here", expected: [",", "}"])
    return points
  }

  private mutating func point() throws(QueryError) -> QuerySyntax.GeoPoint {
    try expect(
      .openBracket, "A point needs its coordinates in brackets", expected: ["[longitude, latitude]"])
    let longitude = try coordinate("a longitude")
    try expect(.comma, "A comma and a latitude are needed after the longitude")
    var point = QuerySyntax.GeoPoint(longitude: longitude, latitude: try coordinate("a latitude"))
    if token.isSymbol(.comma) {
      try advance()
      guard case .real(let literal) = token.kind, literal.isFinite else {
        throw error("An altitude must be a number with a fraction", expected: ["a number such as 8.5"])
      }
      point.altitude = literal.number
      try advance()
    }
    try expect(.closeBracket, "The point is not closed here")
    return point
  }

  private mutating func coordinate(_ what: String) throws(QueryError) -> QuerySyntax.Coordinate {
    let coordinate: QuerySyntax.Coordinate
    switch token.kind {
    case .real(let literal) where literal.isFinite: coordinate = .number(literal.number)
    case .integer(let number, hasSign: false): coordinate = .number(Double(number))
    case .argument(let position): coordinate = .argument(position)
    case .integer:
      throw error("A coordinate can't be an integer with a sign: write a fraction, such as -1.0")
    default: throw error("A number is needed here", expected: [what, "an argument such as $0"])
    }
    try advance()
    return coordinate
  }
}

extension QuerySyntax.RealLiteral {
  /// Whether the number is neither infinite nor NaN, also if its digits are too large for 64 bits.
  var isFinite: Bool { number.isFinite }
}
