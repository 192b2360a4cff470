import Yams

/// Reads the nodes of a definition, and notes the problems in them.
///
/// A node with a problem has no value, and the reader goes on with the others. Messages name the thing that they are
/// about by an owner, which begins a sentence: `'limits'`, `The fields of 'Task'`.
struct DefinitionReader {
  let document: DefinitionDocument
  var problems: ProblemList

  /// A key of a mapping with its value.
  struct Entry {
    let name: String
    /// The place of the key.
    let place: Place
    let value: Node
  }

  // MARK: - Mappings

  /// The entries of a mapping, each name once; nil if the node is not a mapping.
  ///
  /// - Parameter noun: the word for a key in messages.
  mutating func entries(_ node: Node, _ owner: String, _ noun: String) -> [Entry]? {
    guard case .mapping(let mapping) = node else {
      refuse(node, owner, "Write a line `name: value` for each \(noun).")
      return nil
    }
    var entries: [Entry] = []
    var lines: [String: Int] = [:]
    for (key, value) in mapping {
      let place = Place(key)
      guard case .scalar(let scalar) = key else {
        problems.add(
          at: place, "\(owner) has a key that is \(Self.described(key)).", "Write a name before the colon.")
        continue
      }
      let name = document.name(ofKey: scalar)
      if let line = lines[name] {
        problems.add(
          at: place, "The \(noun) \(Wording.shown(name)) stands twice, first on line \(line).",
          "Remove one of them.")
        continue
      }
      lines[name] = place.line
      entries.append(Entry(name: name, place: place, value: value))
    }
    return entries
  }

  /// The entries whose names are known, by name. The others are reported.
  mutating func known(
    _ entries: [Entry], _ names: [String], _ owner: String, _ noun: String
  ) -> [String: Entry] {
    var known: [String: Entry] = [:]
    for entry in entries {
      guard !names.contains(entry.name) else {
        known[entry.name] = entry
        continue
      }
      problems.add(
        at: entry.place, "\(owner) has no \(noun) named \(Wording.shown(entry.name)).",
        Self.choice(entry.name, names, "\(noun.prefix(1).uppercased())\(noun.dropFirst())s"))
    }
    return known
  }

  /// A sentence that lists the names, and says which of them a wrong name may mean.
  static func choice(_ wrong: String, _ names: [String], _ plural: String) -> String {
    let near = NearName.nearest(to: wrong, among: names).map { "Did you mean '\($0)'? " } ?? ""
    return "\(near)\(plural) are \(Wording.list(names))."
  }

  // MARK: - Values

  mutating func list(_ node: Node, _ owner: String, _ remedy: String) -> [Node]? {
    guard case .sequence(let sequence) = node else {
      refuse(node, owner, remedy)
      return nil
    }
    return Array(sequence)
  }

  /// A text, which may be empty only if it stands in quotes.
  mutating func text(_ node: Node, _ owner: String, _ remedy: String) -> String? {
    guard case .scalar(let scalar) = node, !scalar.isNothing else {
      refuse(node, owner, remedy)
      return nil
    }
    return scalar.string
  }

  mutating func flag(_ node: Node, _ owner: String) -> Bool? {
    if case .scalar(let scalar) = node, scalar.style == .plain {
      if scalar.string == "true" { return true }
      if scalar.string == "false" { return false }
    }
    refuse(node, owner, "Write true or false, without quotes.")
    return nil
  }

  mutating func count(_ node: Node, _ owner: String, in range: ClosedRange<Int>) -> Int? {
    let remedy = "Write a whole number from \(range.lowerBound) to \(range.upperBound), in digits only."
    guard case .scalar(let scalar) = node, scalar.style == .plain, !scalar.string.isEmpty,
      scalar.string.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
      let number = Int(scalar.string), range.contains(number)
    else {
      refuse(node, owner, remedy)
      return nil
    }
    return number
  }

  mutating func refuse(_ node: Node, _ owner: String, _ remedy: String) {
    problems.add(at: Place(node), "\(owner) can't be \(Self.described(node)).", remedy)
  }

  private static func described(_ node: Node) -> String {
    switch node {
    case .scalar(let scalar) where scalar.isNothing: "empty"
    case .scalar(let scalar) where scalar.style == .plain: Wording.shown(scalar.string)
    case .scalar(let scalar): "the text \(Wording.shown(scalar.string))"
    case .sequence: "a list"
    case .mapping: "a mapping"
    case .alias: "an alias"
    }
  }
}

extension Node.Scalar {
  /// Whether YAML takes the scalar for no value.
  fileprivate var isNothing: Bool {
    style == .plain && ["", "~", "null", "Null", "NULL"].contains(string)
  }
}
