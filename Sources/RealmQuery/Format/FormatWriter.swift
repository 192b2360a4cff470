import RealmStorage

/// Prints the condition of a query as a predicate format, with `%@` in place of its arguments.
///
/// Typed queries print in this way: each test is in parentheses, AND and OR join two conditions in parentheses, and a
/// boolean value on its own is compared with `true` or `false` without parentheses. Printing does not recurse.
public struct FormatWriter {
  private enum Task {
    case text(String)
    case condition(Int)
    /// A test with the words before it that negate it.
    case test(Int, isNegated: Bool)
    case value(Int)
  }

  private let builder: QuerySyntax.Builder
  private let replacements: [Int: Int]
  private var tasks: [Task] = []
  private var text = ""
  private var arguments: [Int?] = []
  /// The printed names of variables, by their names in the nodes.
  private var variables: [String: String] = [:]

  private init(_ builder: QuerySyntax.Builder, _ replacements: [Int: Int]) {
    self.builder = builder
    self.replacements = replacements
  }

  /// Prints a condition.
  ///
  /// - Parameters:
  ///   - root: the index of the condition.
  ///   - builder: the builder that has the nodes.
  ///   - replacements: conditions that are printed in place of others, by their indexes.
  /// - Returns: the text, and the positions of the arguments that its specifiers take, in order. The position is nil
  ///   for the key "#any", which stands for all elements.
  public static func format(
    _ root: Int, in builder: QuerySyntax.Builder, as replacements: [Int: Int] = [:]
  ) -> (text: String, arguments: [Int?]) {
    var writer = FormatWriter(builder, replacements)
    writer.tasks = [.condition(root)]
    while let task = writer.tasks.popLast() {
      switch task {
      case .text(let text): writer.text += text
      case .condition(let node): writer.write(condition: node)
      case .test(let node, let isNegated): writer.write(test: node, isNegated)
      case .value(let node): writer.write(value: node)
      }
    }
    return (writer.text, writer.arguments)
  }

  private mutating func write(_ parts: Task...) { tasks += parts.reversed() }

  private mutating func write(condition node: Int) {
    let node = replacements[node] ?? node
    switch builder[node].kind {
    case .always: text += "TRUEPREDICATE"
    case .never: text += "FALSEPREDICATE"
    case .and(let parts): write(parts, " && ")
    case .or(let parts): write(parts, " || ")
    case .not(let part):
      let part = replacements[part] ?? part
      if case .test = builder[part].kind { return write(.test(part, isNegated: true)) }
      write(.text("NOT "), .condition(part))
    case .test: write(.test(node, isNegated: false))
    default: write(.value(node))
    }
  }

  private mutating func write(_ parts: [Int], _ separator: String) {
    tasks.append(.text(")"))
    for (place, part) in parts.enumerated().reversed() {
      tasks.append(.condition(part))
      if place > 0 { tasks.append(.text(separator)) }
    }
    tasks.append(.text("("))
  }

  private mutating func write(test node: Int, _ isNegated: Bool) {
    guard case .test(let left, let testOperator, let options, let right) = builder[node].kind else { return }
    if !isNegated, testOperator == .compare(.equal),
      case .constant(.value(.bool(let flag))) = builder[right].kind
    {
      return write(.value(left), .text(" == \(flag)"))
    }
    let letters =
      (options.contains(.ignoringCase) ? "c" : "") + (options.contains(.ignoringDiacritics) ? "d" : "")
    let word = testOperator.word + (letters.isEmpty ? "" : "[\(letters)]")
    write(
      .text(isNegated ? "(NOT " : "("), .value(left), .text(" \(word) "), .value(right), .text(")"))
  }

  private mutating func write(value node: Int) {
    if let quantifier = builder[node].quantifier { text += quantifier.rawValue + " " }
    switch builder[node].kind {
    case .argument(let place): writeArgument(place)
    case .path(let path): write(path)
    case .list(let parts):
      tasks.append(.text("}"))
      for (place, part) in parts.enumerated().reversed() {
        tasks.append(.value(part))
        if place > 0 { tasks.append(.text(", ")) }
      }
      text += "{"
    case .subquery(let subquery):
      let name = "$col\(variables.count + 1)"
      variables[subquery.variable] = name
      text += "SUBQUERY("
      write(subquery.collection)
      write(
        .text(", \(name), "), .condition(subquery.condition), .text(subquery.isCounted ? ").@count" : ")"))
    case .constant(.value(.bool(let flag))): text += "\(flag)"
    default: text += "nil"
    }
  }

  private mutating func writeArgument(_ place: Int) {
    text += "%@"
    arguments.append(place)
  }

  private mutating func write(_ path: QuerySyntax.Path) {
    var isFirst = true
    func name(_ name: String) {
      text += isFirst ? name : "." + name
      isFirst = false
    }
    if case .variable(let variable) = path.start { name(variables[variable] ?? variable) }
    if case .selfWord = path.start { name("self") }
    for step in path.steps {
      switch step {
      case .name(let found): name(found)
      case .argument(let place):
        text += "["
        writeArgument(place)
        text += "]"
      case .all:
        text += "[%K]"
        arguments.append(nil)
      case .keys: name("@allKeys")
      case .values: name("@allValues")
      case .count: name("@count")
      case .aggregate(let aggregate): name("@" + aggregate.rawValue)
      default: name("?")
      }
    }
  }
}

extension QuerySyntax.TestOperator {
  /// The word of the test in formats.
  fileprivate var word: String {
    switch self {
    case .compare(.equal): "=="
    case .compare(.notEqual): "!="
    case .compare(.less): "<"
    case .compare(.lessOrEqual): "<="
    case .compare(.greater): ">"
    case .compare(.greaterOrEqual): ">="
    case .isIn, .geoWithin: "IN"
    case .contains: "CONTAINS"
    case .beginsWith: "BEGINSWITH"
    case .endsWith: "ENDSWITH"
    case .like: "LIKE"
    case .matches: "MATCHES"
    case .fullText: "TEXT"
    case .between: "BETWEEN"
    }
  }
}
