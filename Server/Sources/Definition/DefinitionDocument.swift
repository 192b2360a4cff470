import Yams

/// The nodes of a definition.
struct DefinitionDocument {
  let root: Node
  /// For each key whose first scalar was replaced, its place and the scalar that was there.
  private let replaced: [Place: Unicode.Scalar]

  init(root: Node, replaced: [Place: Unicode.Scalar]) { (self.root, self.replaced) = (root, replaced) }

  /// The name of a key as it is in the file.
  func name(ofKey key: Node.Scalar) -> String {
    guard let mark = key.mark, let first = replaced[Place(mark)] else { return key.string }
    var name = String.UnicodeScalarView([first])
    name.append(contentsOf: key.string.unicodeScalars.dropFirst())
    return String(name)
  }
}

/// Makes the nodes of a text.
///
/// Yams refuses a text in which a key stands twice in a mapping. So that all problems can be reported at once, the
/// first scalar of such a key is replaced by a scalar that nobody uses, and the text is read again. No column changes
/// by that, and `DefinitionDocument` gives the key as it was.
struct DefinitionComposer {
  private let text: DefinitionText
  private var scalars: [Unicode.Scalar]
  private var replaced: [Place: Unicode.Scalar] = [:]

  /// The greatest number of keys that are replaced. It is limited because the whole text is read again after each.
  private static let mostReplaced = 20

  init(_ text: DefinitionText) { (self.text, self.scalars) = (text, text.scalars) }

  /// - Returns: nil if the text is not a definition. Then there are problems.
  mutating func compose(_ problems: inout ProblemList) -> DefinitionDocument? {
    while true {
      do {
        return try document(&problems)
      } catch YamlError.duplicatedKeysInMapping(duplicates: let names, context: let context) {
        guard makeUnique(Place(context.mark)) else {
          report(names.first ?? "", Place(context.mark), &problems)
          return nil
        }
      } catch {
        problems.add(error)
        return nil
      }
    }
  }

  private func document(_ problems: inout ProblemList) throws -> DefinitionDocument? {
    let parser = try Parser(yaml: source, resolver: .basic, encoding: .utf8)
    let first = try parser.nextRoot()
    let second = try parser.nextRoot()
    guard let root = first else {
      problems.add(at: .start, "The file says nothing.", "Write at least a line such as `id: tasks`.")
      return nil
    }
    if let second {
      problems.add(
        at: Place(second), "A second document stands in the file.",
        "Put each app into a file of its own, and remove the line `---`.")
    }
    // The parser holds the anchors, which nodes do not keep alive.
    let isPlain = withExtendedLifetime(parser) { check(root, &problems) }
    return isPlain ? DefinitionDocument(root: root, replaced: replaced) : nil
  }

  /// The text for the parser.
  ///
  /// The parser goes on reading the bytes of the string after it has given back their address. The bytes of a short
  /// string may move meanwhile, so this string is never short. Line breaks at the end have no meaning.
  private var source: String {
    var view = String.UnicodeScalarView(scalars)
    if scalars.count < 64 { view.append(contentsOf: repeatElement("\n", count: 64)) }
    return String(view)
  }

  /// Reports anchors and tags.
  private func check(_ root: Node, _ problems: inout ProblemList) -> Bool {
    let count = problems.found.count
    // A loop is used because a text may have deeply nested nodes.
    var nodes = [root]
    while let node = nodes.popLast() {
      guard node.anchor == nil else {
        problems.add(at: Place(node), DefinitionText.aliasProblem, DefinitionText.aliasRemedy)
        continue
      }
      if !Self.isUsual(node) {
        problems.add(
          at: Place(node), "Definitions have no tags, which begin with `!`.",
          "Remove it, and put a text that begins with ! into quotes.")
      }
      switch node {
      case .scalar, .alias: break
      case .sequence(let sequence): nodes += Array(sequence)
      case .mapping(let mapping): for (key, value) in mapping { nodes += [key, value] }
      }
    }
    return problems.found.count == count
  }

  /// Whether the tag of a node says no more than the kind of the node.
  private static func isUsual(_ node: Node) -> Bool {
    switch node {
    case .scalar(let scalar): ["", "!", "tag:yaml.org,2002:str"].contains(scalar.tag.rawValue)
    case .sequence(let sequence): ["", "!", "tag:yaml.org,2002:seq"].contains(sequence.tag.rawValue)
    case .mapping(let mapping): ["", "!", "tag:yaml.org,2002:map"].contains(mapping.tag.rawValue)
    case .alias: true
    }
  }

  // MARK: - Keys that stand twice

  /// Changes the key at a place into a key that stands nowhere else.
  ///
  /// - Returns: false if the key has no scalar that can be replaced, such as an empty key, or if too many keys were
  ///   replaced.
  private mutating func makeUnique(_ place: Place) -> Bool {
    guard replaced.count < Self.mostReplaced, replaced[place] == nil,
      var offset = text.offset(of: place),
      let unused = Unicode.Scalar(UInt32(0xE000 + replaced.count))
    else { return false }
    let isQuoted = scalars[offset] == "'" || scalars[offset] == "\""
    if isQuoted { offset += 1 }
    guard offset < scalars.count, isQuoted || !Self.signs.contains(scalars[offset]),
      !["'", "\"", "\\", "\n", "\r"].contains(scalars[offset])
    else { return false }
    replaced[place] = scalars[offset]
    scalars[offset] = unused
    return true
  }

  /// The signs that have a meaning of their own at the beginning of a key.
  private static let signs = Set("-?:,[]{}#&*!|>%@` \t".unicodeScalars)

  /// Reports the keys that are known to stand twice.
  private func report(_ name: String, _ place: Place, _ problems: inout ProblemList) {
    problems.add(
      at: place, "The key \(Wording.shown(name)) stands twice in its mapping.", "Remove one of them.")
    for place in replaced.keys {
      problems.add(at: place, "The key here stands twice in its mapping.", "Remove one of them.")
    }
  }
}
