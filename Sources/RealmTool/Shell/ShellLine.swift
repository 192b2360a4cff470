import RealmInterchange

/// A line of the shell. Its parts are taken off from the start.
struct ShellLine {
  private(set) var rest: Substring

  init(_ line: String) { rest = Substring(line).trimmed }

  var isEmpty: Bool { rest.isEmpty }

  /// Takes the next word; empty at the end of the line.
  mutating func word() -> String {
    let word = rest.prefix { !$0.isWhitespace }
    rest = rest[word.endIndex...].trimmed
    return String(word)
  }

  /// Takes the next name, which may be in quotation marks.
  ///
  /// - Parameter what: the description of the name in messages, as "The name of a table".
  mutating func name(_ what: String) throws(ShellProblem) -> String {
    guard let first = rest.first else { throw ShellProblem("\(what) is missing at the end.") }
    guard first == "\"" || first == "'" else { return word() }
    guard let end = rest.dropFirst().firstIndex(of: first) else {
      throw ShellProblem("The name has no closing \(first).")
    }
    let name = String(rest[rest.index(after: rest.startIndex)..<end])
    rest = rest[rest.index(after: end)...].trimmed
    return name
  }

  /// Takes the next value in JSON.
  ///
  /// - Parameter what: the description of the value in messages, as "The primary key".
  mutating func json(_ what: String) throws(ShellProblem) -> JSONNode {
    guard !rest.isEmpty else { throw ShellProblem("\(what) is missing at the end.") }
    let bytes = Array(rest.utf8)
    do throws(JSONSyntaxError) {
      let (node, length) = try JSONParser.prefix(of: bytes, mostLevels: JSONLinesImport.mostLevels)
      rest = rest[rest.utf8.index(rest.startIndex, offsetBy: length)...].trimmed
      return node
    } catch {
      let place = String(decoding: bytes[min(error.offset, bytes.count)...].prefix(20), as: UTF8.self)
      throw ShellProblem(
        "\(what) is no JSON: \(error.missing) is expected \(place.isEmpty ? "at the end" : "before `\(place)`")."
      )
    }
  }

  /// Takes the key of a row, which is written behind `#`; nil if something else follows.
  mutating func rowKey() throws(ShellProblem) -> UInt64? {
    guard rest.first == "#" else { return nil }
    let text = word().dropFirst()
    guard let key = UInt64(text) else { throw ShellProblem("#\(text) is no key of a row.") }
    return key
  }

  func end() throws(ShellProblem) {
    guard rest.isEmpty else {
      throw ShellProblem("There is something behind the end of the command: \(rest)")
    }
  }
}

extension Substring {
  fileprivate var trimmed: Substring {
    var text = drop(while: \.isWhitespace)
    while text.last?.isWhitespace ?? false { text.removeLast() }
    return text
  }
}
