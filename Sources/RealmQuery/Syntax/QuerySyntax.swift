import RealmStorage

/// The parsed text of a query, in which no name is looked up yet.
///
/// Both query languages are parsed into it: Realm's own (`QueryParser.rql(_:)`) and the format of `NSPredicate`
/// (`QueryParser.predicateFormat(_:arguments:)`).
///
/// The nodes are in one array, children before their parents, and refer to one another by index. So a tree of any depth
/// is released, compared and walked by loops, without recursion: a loop forwards over `nodes` reaches the children of a
/// node before the node, and a loop backwards reaches each node before its children. Each node except the root is part
/// of exactly one other node. Nested ANDs are one AND with more parts, nested ORs are one OR, and both have at least
/// two parts.
///
/// Two trees are equal if they say the same in the same order. The places of the nodes in their texts are ignored.
public struct QuerySyntax: Sendable, Equatable {
  /// All nodes, children before their parents, the root last.
  public let nodes: [Node]
  /// The descriptors after the condition, in the order of the text. They apply in this order.
  public let descriptors: [Descriptor]

  /// The index of the whole condition, which is the last node.
  public var root: Int { nodes.count - 1 }

  /// The positions of the arguments to which the query refers.
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

  /// A node of the tree: a condition, or a value that a condition compares.
  public struct Node: Sendable, Equatable {
    /// What the node says. Indexes in it are those of `QuerySyntax.nodes`.
    public var kind: Kind
    /// ANY, ALL or NONE before a value; nil if there is none. Conditions have none.
    public var quantifier: Quantifier?
    /// The place of the node in the text.
    public var range: SourceRange

    /// Makes a node. `range` can be left out if no text was parsed.
    public init(_ kind: Kind, quantifier: Quantifier? = nil, range: SourceRange = .none) {
      self.kind = kind
      self.quantifier = quantifier
      self.range = range
    }
  }

  /// What a node says. The first six kinds are conditions, the others values.
  public enum Kind: Sendable, Equatable {
    /// TRUEPREDICATE: every object matches.
    case always
    /// FALSEPREDICATE: no object matches.
    case never
    /// All parts match.
    case and([Int])
    /// At least one part matches.
    case or([Int])
    /// The part does not match.
    case not(Int)
    /// A test of the value on the left against the value on the right.
    case test(left: Int, operator: TestOperator, options: TestOptions, right: Int)

    /// A constant.
    case constant(Constant)
    /// The value at the end of a path.
    case path(Path)
    /// The argument at this position, counted from 0: `$0` in RQL, `%@` and the other specifiers of values in formats.
    case argument(Int)
    /// A list of values in braces.
    case list([Int])
    /// A chain of `+` and `-`, or a chain of `*` and `/`, computed from left to right.
    case arithmetic(first: Int, rest: [Operation])
    /// The objects of a collection that match a condition.
    case subquery(Subquery)
    /// A shape on the globe that the text describes.
    case shape(GeoShape)
  }

  /// How many of several values must pass a test.
  public enum Quantifier: String, Sendable, Hashable, CaseIterable {
    /// At least one value passes. The word SOME means the same.
    case any = "ANY"
    /// All values pass. The test also holds if there is no value.
    case all = "ALL"
    /// No value passes. The test also holds if there is no value.
    case none = "NONE"
  }

  /// The test of two values.
  public enum TestOperator: Sendable, Hashable {
    /// One of `== != < <= > >=`.
    case compare(Comparison)
    /// The value on the left is an element of the right side.
    case isIn
    /// The string or data on the left contains the right one, begins with it, ends with it, or is like it as a pattern.
    case contains, beginsWith, endsWith, like
    /// The string on the left matches the regular expression on the right. Only formats have it.
    case matches
    /// The text on the left contains the words on the right. Only RQL has it.
    case fullText
    /// The value on the left is between the two elements of the list on the right, or equals one of them.
    case between
    /// The point on the left is in the shape on the right. Only RQL has the word; formats use IN.
    case geoWithin
  }

  /// The options of a test: the letters in brackets after an operator.
  ///
  /// The letters `n` and `l` of formats have no meaning for a database, and are dropped.
  public struct TestOptions: OptionSet, Sendable, Hashable {
    /// The bits of the options.
    public let rawValue: UInt8
    /// Makes options of their bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// `[c]`: capital and small letters are equal.
    public static let ignoringCase = TestOptions(rawValue: 1)
    /// `[d]`: letters with and without diacritics are equal. Only formats have it.
    public static let ignoringDiacritics = TestOptions(rawValue: 2)
    /// `[c1]`: capital and small letters of Latin-1 are equal. No text has it together with `[c]`.
    public static let latin1Case = TestOptions(rawValue: 4)
  }

  /// A step in a chain of arithmetic operations.
  public struct Operation: Sendable, Equatable {
    /// The operation on the value so far and the operand.
    public var operation: ArithmeticOperator
    /// The index of the node on the right of the operator.
    public var operand: Int

    /// Makes a step.
    public init(_ operation: ArithmeticOperator, _ operand: Int) {
      self.operation = operation
      self.operand = operand
    }
  }

  /// An arithmetic operator.
  public enum ArithmeticOperator: String, Sendable, Hashable, CaseIterable {
    /// Addition.
    case plus = "+"
    /// Subtraction.
    case minus = "-"
    /// Multiplication.
    case times = "*"
    /// Division.
    case divided = "/"

    /// Whether it is `*` or `/`, which bind more tightly than `+` and `-`.
    public var isMultiplicative: Bool { self == .times || self == .divided }
  }

  /// `SUBQUERY(path, $variable, condition)`.
  public struct Subquery: Sendable, Equatable {
    /// The path to the collection.
    public var collection: Path
    /// The variable that stands for an element in the condition, with its `$`.
    public var variable: String
    /// The index of the condition's node.
    public var condition: Int
    /// Whether `.@count` or `.@size` follows. In RQL it has to.
    public var isCounted: Bool

    /// Makes a subquery.
    public init(collection: Path, variable: String, condition: Int, isCounted: Bool = true) {
      self.collection = collection
      self.variable = variable
      self.condition = condition
      self.isCounted = isCounted
    }
  }

  /// A descriptor after a condition. Only RQL has it.
  public enum Descriptor: Sendable, Equatable {
    /// SORT: the sort keys, the most important one first.
    case sort([SortKey])
    /// DISTINCT: the first object of each group with equal values at the paths stays.
    case distinct([Path])
    /// LIMIT: at most this number of objects stay.
    case limit(Int64)
  }

  /// A key of a sort.
  public struct SortKey: Sendable, Equatable {
    /// The path to the values by which objects are sorted.
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
