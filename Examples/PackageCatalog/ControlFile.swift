/// Reads stanzas of "Name: value" lines, as Debian's package tools print them (deb-control(5)): lines that start with a
/// blank belong to the field before, and an empty line ends a stanza.
struct ControlFile: Sequence, IteratorProtocol {
  private var lines: ArraySlice<Substring.UTF8View>.Iterator
  private(set) var bytesRead = 0

  init(_ text: String) {
    lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
      .makeIterator()
  }

  /// The fields of the next stanza by their names.
  mutating func next() -> [String: String]? {
    var fields: [String: String] = [:]
    var last: String?
    while let line = lines.next() {
      bytesRead += line.count + 1
      if line.isEmpty {
        if fields.isEmpty { continue }
        return fields
      }
      if line.first == UInt8(ascii: " ") || line.first == UInt8(ascii: "\t") {
        if let last { fields[last, default: ""] += "\n" + text(line.dropFirst()) }
      } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
        let name = text(line[..<colon])
        fields[name] = text(line[colon...].dropFirst().drop { $0 == UInt8(ascii: " ") })
        last = name
      }
    }
    return fields.isEmpty ? nil : fields
  }

  private func text(_ bytes: some Sequence<UInt8>) -> String { String(decoding: Array(bytes), as: UTF8.self) }
}

/// The packages that a dependency field names first: "a (>= 1), b | c, d:any" names a, b or c, and d.
struct DependencyField {
  /// For each dependency, the names that satisfy it.
  let alternatives: [[String]]

  init(_ text: String) {
    alternatives = text.split(separator: ",").map { dependency in
      dependency.split(separator: "|").map { name in
        String(name.drop { $0 == " " || $0 == "\n" }.prefix { $0 != " " && $0 != "(" && $0 != ":" })
      }
    }
  }
}
