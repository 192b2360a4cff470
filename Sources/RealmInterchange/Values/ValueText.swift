package import RealmStorage

extension Value {
  /// The value as a short text for people. It is on one line, and can't be read back exactly.
  package var text: String {
    switch self {
    case .null: "null"
    case .bool(let flag): "\(flag)"
    case .int(let number): "\(number)"
    case .float(let number): "\(number)"
    case .double(let number): "\(number)"
    case .string(let text): JSON.string(text)
    case .data(let bytes): Self.dataText(bytes)
    case .date(let date): Self.dateText(date)
    case .objectID(let id): Hexadecimal.text(id.bytes)
    case .uuid(let id): UUIDText.text(id.bytes)
    case .decimal128(let id): DecimalNumber(id).text
    case .link(let key): "->\(key)"
    case .typedLink(let table, let key): "->\(table):\(key)"
    case .list(let elements, _): "[" + elements.map(\.text).joined(separator: ", ") + "]"
    case .map(let map, _):
      "{" + zip(map.keys, map.values).map { "\(JSON.string($0)): \($1.text)" }.joined(separator: ", ") + "}"
    }
  }

  private static func dataText(_ bytes: [UInt8]) -> String {
    let shown = 32
    let start = "data:" + Hexadecimal.text(bytes.prefix(shown))
    return bytes.count <= shown ? start : "\(start)… (\(bytes.count) bytes)"
  }

  private static func dateText(_ date: Timestamp) -> String {
    DateText.text(date) ?? "\(date.seconds) seconds and \(date.nanoseconds) nanoseconds since 1970"
  }
}
