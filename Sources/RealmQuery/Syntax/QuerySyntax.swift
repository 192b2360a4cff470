import RealmStorage

/// What the text of a query says, before any name in it is looked up.
///
/// Both query languages are read into it: Realm's own (`QueryParser.rql(_:)`) and the format of NSPredicate
/// (`QueryParser.predicateFormat(_:arguments:)`).
///
/// The nodes stand in one array, children before their parents, and name each other by index. So a tree of any depth is
/// freed, compared and walked by loops, without recursion: a loop forwards over `nodes` meets the children of a node
/// before the node, a loop backwards meets each node before its children. Each node but the root stands in exactly one
/// other node. Nested ANDs are one AND with more parts, nested ORs are one OR, and neither has fewer than two parts.
///
/// Two trees are equal where they say the same in the same order. Where the nodes stood in their texts makes no difference.
public struct QuerySyntax: Sendable, Equatable {
  /// All nodes, children before their parents, the root last.
  public let nodes: [Node]
  /// What comes behind the condition, in the order of the text, which is the order in which it applies.
  public let descriptors: [Descriptor]

  /// The index of the condition as a whole: the last of the nodes.
  public var root: Int { nodes.count - 1 }

  /// The positions of the arguments that it names.
  public var arguments: Set<Int> {
    var found: Set<Int> = []
    func add(_ path: Path) {
      if case .argument(let place) = path.start { found.insert(place) }
      for case .argument(let place) in path.steps { found.insert(place) }
    }
    for node in nodes {
      switch node.kind {
      case .argument(let place): found.insert(place)
      case .path(let path): add(path)
      case .subquery(let subquery): add(subquery.collection)
      default: break
      }
    }
    return found
  }

  init(nodes: [Node], descriptors: [Descriptor]) {
    self.nodes = nodes
    self.descriptors = descriptors
  }

  /// A part of the tree: a condition, or a value that a condition compares.
  public struct Node: Sendable, Equatable {
    /// What it says. Indexes in it are those of `QuerySyntax.nodes`.
    public var kind: Kind
    /// ANY, ALL or NONE before a value; nil without. Conditions have none.
    public var quantifier: Quantifier?
    /// Where it stands in the text.
    public var range: SourceRange

    /// Makes a node; `range` may be left out where no text was read.
    public init(_ kind: Kind, quantifier: Quantifier? = nil, range: SourceRange = .none) {
      self.kind = kind
      self.quantifier = quantifier
      self.range = range
    }
  }

  /// What a node says. The first six kinds are conditions, the others values.
  public enum Kind: Sendable, Equatable {
    /// TRUEPREDICATE: it holds of every object.
    case always
    /// FALSEPREDICATE: it holds of no object.
    case never
    /// All parts hold.
    case and([Int])
    /// At least one part holds.
    case or([Int])
    /// The part does not hold.
    case not(Int)
    /// A test of the value on the left against the value on the right.
    case test(left: Int, operator: TestOperator, options: TestOptions, right: Int)

    /// A value that stands in the text.
    case constant(Constant)
    /// The value at the end of a path.
    case path(Path)
    /// The argument at this position, counted from 0: `$0` in RQL, `%@` and the other specifiers of values in formats.
    case argument(Int)
    /// Values in braces.
    case list([Int])
    /// A chain of `+` and `-`, or a chain of `*` and `/`, computed from left to right.
    case arithmetic(first: Int, rest: [Operation])
    /// The objects of a collection that meet a condition.
    case subquery(Subquery)
    /// A shape on the globe that the text describes.
    case shape(GeoShape)
  }

  /// How many of several values must pass a test.
  public enum Quantifier: String, Sendable, Hashable, CaseIterable {
    /// At least one value passes. SOME says the same.
    case any = "ANY"
    /// Every value passes; so it does without any value.
    case all = "ALL"
    /// No value passes; so it does without any value.
    case none = "NONE"
  }

  /// What a test asks of two values.
  public enum TestOperator: Sendable, Hashable {
    /// One of `== != < <= > >=`.
    case compare(Comparison)
    /// The value on the left is an element of what stands on the right.
    case isIn
    /// Tests of strings and data: the left value contains, begins with, ends with or is like the right one.
    case contains, beginsWith, endsWith, like
    /// The string on the left matches the regular expression on the right. Only formats say it.
    case matches
    /// The text on the left contains the words on the right. Only RQL says it.
    case fullText
    /// The value on the left lies between the two elements of the list on the right, both included.
    case between
    /// The point on the left lies in the shape on the right. Only RQL has the word; formats say IN.
    case geoWithin
  }

  /// Options of a test, the letters in brackets behind an operator.
  ///
  /// The letters `n` and `l` of formats mean nothing to a database, and are not kept.
  public struct TestOptions: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// `[c]`: capital and small letters are the same.
    public static let ignoringCase = TestOptions(rawValue: 1)
    /// `[d]`: letters with and without diacritics are the same. Only formats say it.
    public static let ignoringDiacritics = TestOptions(rawValue: 2)
    /// `[c1]`: capital and small letters of Latin-1 are the same. No text says it beside `[c]`.
    public static let latin1Case = TestOptions(rawValue: 4)
  }

  /// A step of a chain of arithmetic.
  public struct Operation: Sendable, Equatable {
    /// What is done with the value so far and the operand.
    public var operation: ArithmeticOperator
    /// The node on the right of the operator.
    public var operand: Int

    /// Makes a step.
    public init(_ operation: ArithmeticOperator, _ operand: Int) {
      self.operation = operation
      self.operand = operand
    }
  }

  /// One of `+ - * /`.
  public enum ArithmeticOperator: String, Sendable, Hashable, CaseIterable {
    case plus = "+"
    case minus = "-"
    case times = "*"
    case divided = "/"

    /// Whether it binds as tightly as `*` does.
    public var isMultiplicative: Bool { self == .times || self == .divided }
  }

  /// `SUBQUERY(path, $variable, condition)`.
  public struct Subquery: Sendable, Equatable {
    /// The path to the collection.
    public var collection: Path
    /// The name that the condition has for an element, with its `$`.
    public var variable: String
    /// The node of the condition.
    public var condition: Int
    /// Whether `.@count` or `.@size` follows. RQL demands it.
    public var isCounted: Bool

    /// Makes a subquery.
    public init(collection: Path, variable: String, condition: Int, isCounted: Bool = true) {
      self.collection = collection
      self.variable = variable
      self.condition = condition
      self.isCounted = isCounted
    }
  }

  /// What comes behind a condition. Only RQL says it.
  public enum Descriptor: Sendable, Equatable {
    /// SORT: the keys, the first the most important.
    case sort([SortKey])
    /// DISTINCT: the first object of each tuple of values stays.
    case distinct([Path])
    /// LIMIT: no more objects than this number stay.
    case limit(Int64)
  }

  /// A key of a sort.
  public struct SortKey: Sendable, Equatable {
    /// The path to the values that are ordered.
    public var path: Path
    /// Whether small values come first.
    public var isAscending: Bool

    /// Makes a key.
    public init(_ path: Path, isAscending: Bool) {
      self.path = path
      self.isAscending = isAscending
    }
  }
}
