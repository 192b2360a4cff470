/// Tests joined by and, or and not, to any depth. They are run one after another, with a stack of their own instead of
/// recursion.
///
/// Among joined tests the cheapest comes first, and no test is asked about a row that the others have decided.
final class LogicTest: ClusterTest {
  enum Node {
    case test(ClusterTest)
    /// The places of the parts in the list of parts.
    case all(Range<Int>)
    case any(Range<Int>)
    case not(Int)
  }

  /// A node that is being tested.
  private struct Frame {
    var node: Int
    /// The place of the next part in the list of parts.
    var next: Int
    /// The rows that are not decided yet.
    var rows: RowMask
    /// The rows that passed a part.
    var found = RowMask.none
  }

  private let nodes: [Node]
  /// The positions in `nodes` of the parts of all joined nodes.
  private let parts: [Int]
  private let root: Int
  private let knownCost: Int
  private var frames: [Frame] = []

  init(_ nodes: [Node], parts: [Int], root: Int, cost: Int) {
    self.nodes = nodes
    self.parts = parts
    self.root = root
    knownCost = cost
  }

  override var cost: Int { knownCost }

  override func mask(
    of cluster: borrowing ClusterNode, within rows: RowMask, _ access: borrowing NodeAccess
  ) throws(StorageError) -> RowMask {
    frames.removeAll(keepingCapacity: true)
    enter(root, rows)
    while let top = frames.indices.last {
      let answer: RowMask?
      switch nodes[frames[top].node] {
      case .test(let test): answer = try test.mask(of: cluster, within: frames[top].rows, access)
      case .all(let range): answer = try ask(range, isAnd: true, top, cluster, access)
      case .any(let range): answer = try ask(range, isAnd: false, top, cluster, access)
      case .not(let part):
        answer = nil
        enter(part, frames[top].rows)
      }
      guard let answer else { continue }
      if let result = leave(with: answer) { return result }
    }
    return .none
  }

  private func enter(_ node: Int, _ rows: RowMask) {
    var first = 0
    switch nodes[node] {
    case .all(let range), .any(let range): first = range.lowerBound
    case .test, .not: break
    }
    frames.append(Frame(node: node, next: first, rows: rows))
  }

  /// Tests one part after another until one has parts itself, which is then entered.
  ///
  /// - Returns: the rows that pass if all parts were tested; nil if a part was entered.
  private func ask(
    _ range: Range<Int>, isAnd: Bool, _ top: Int, _ cluster: borrowing ClusterNode,
    _ access: borrowing NodeAccess
  ) throws(StorageError) -> RowMask? {
    while frames[top].next < range.upperBound, !frames[top].rows.isEmpty {
      let part = parts[frames[top].next]
      frames[top].next += 1
      guard case .test(let test) = nodes[part] else {
        enter(part, frames[top].rows)
        return nil
      }
      take(try test.mask(of: cluster, within: frames[top].rows, access), isAnd: isAnd, top)
    }
    return isAnd ? frames[top].rows : frames[top].found
  }

  private func take(_ passing: RowMask, isAnd: Bool, _ top: Int) {
    if isAnd {
      frames[top].rows = passing
    } else {
      frames[top].found = frames[top].found | passing
      frames[top].rows = frames[top].rows.subtracting(passing)
    }
  }

  /// Removes the last node, and gives its answer to the node before it.
  ///
  /// - Returns: the answer of the root, if that is decided; otherwise nil.
  private func leave(with answer: RowMask) -> RowMask? {
    var answer = answer
    frames.removeLast()
    while let top = frames.indices.last {
      switch nodes[frames[top].node] {
      case .all: take(answer, isAnd: true, top)
      case .any: take(answer, isAnd: false, top)
      case .not, .test:
        answer = frames[top].rows.subtracting(answer)
        frames.removeLast()
        continue
      }
      return nil
    }
    return answer
  }

  override func prefetch(_ cluster: Ref, _ access: borrowing NodeAccess) {
    for case .test(let test) in nodes { test.prefetch(cluster, access) }
  }
}

/// Makes one test of the conditions of a predicate. It takes time in proportion to the number of parts, and uses no
/// recursion.
struct LogicBuilder {
  /// The result that was made of a predicate.
  private enum Made {
    case constant(Bool)
    case node(Int)
  }
  private enum Step {
    /// Makes the result of a predicate.
    ///
    /// - Parameter isAnd: true if the predicate is a part of an and, false if it is a part of an or; nil if it is no
    ///   part.
    case visit(Predicate, isAnd: Bool?)
    /// Joins all results that were made from a position on.
    case join(isAnd: Bool, from: Int)
    case negate
  }

  private var nodes: [LogicTest.Node] = []
  private var costs: [Int] = []
  private var parts: [Int] = []
  private var made: [Made] = []

  /// - Parameters:
  ///   - texts: makes the test that stands for many tests of a text, of which one must pass.
  ///   - condition: makes the test of a predicate that has no parts.
  static func test(
    _ predicate: Predicate, texts: (EqualTexts) throws(StorageError) -> ClusterTest,
    condition: (Predicate) throws(StorageError) -> ClusterTest
  ) throws(StorageError) -> ClusterTest {
    if predicate.parts == nil { return try condition(predicate) }
    var builder = LogicBuilder()
    var steps = [Step.visit(predicate, isAnd: nil)]
    while let step = steps.popLast() {
      switch step {
      case .join(let isAnd, let start): builder.join(isAnd: isAnd, from: start)
      case .negate: builder.negate()
      case .visit(let predicate, let isAnd): try builder.visit(predicate, isAnd, &steps, texts, condition)
      }
    }
    return builder.finished()
  }

  private mutating func visit(
    _ predicate: Predicate, _ isAnd: Bool?, _ steps: inout [Step],
    _ texts: (EqualTexts) throws(StorageError) -> ClusterTest,
    _ condition: (Predicate) throws(StorageError) -> ClusterTest
  ) throws(StorageError) {
    func visit(_ parts: some BidirectionalCollection<Predicate>, isAnd: Bool) {
      for part in parts.reversed() { steps.append(.visit(part, isAnd: isAnd)) }
    }
    switch predicate {
    case .and(let parts):
      // If a part joins in the same way, its parts become parts of the whole.
      if isAnd != true { steps.append(.join(isAnd: true, from: made.count)) }
      visit(parts, isAnd: true)
    case .or(let parts):
      if isAnd != false { steps.append(.join(isAnd: false, from: made.count)) }
      let (alike, rest) = EqualTexts.found(among: parts)
      for equal in alike { add(try texts(equal)) }
      if alike.isEmpty { visit(parts, isAnd: false) } else { visit(rest, isAnd: false) }
    case .not(let parts):
      steps.append(.negate)
      steps.append(.join(isAnd: true, from: made.count))
      visit(parts, isAnd: true)
    default: add(try condition(predicate))
    }
  }

  private mutating func add(_ test: ClusterTest) {
    made.append((test as? ConstantTest).map { .constant($0.holds) } ?? .node(add(.test(test), test.cost)))
  }

  private mutating func add(_ node: LogicTest.Node, _ cost: Int) -> Int {
    nodes.append(node)
    costs.append(cost)
    return nodes.count - 1
  }

  /// Joins the results from `start` on. Results that are always true or never true are left out, or decide alone.
  private mutating func join(isAnd: Bool, from start: Int) {
    var joined: [Int] = []
    var isDecided = false
    for part in made[start...] {
      switch part {
      case .constant(let holds): if holds != isAnd { isDecided = true }
      case .node(let node): joined.append(node)
      }
    }
    made.removeSubrange(start...)
    if isDecided || joined.isEmpty {
      made.append(.constant(isAnd != isDecided))
    } else if joined.count == 1 {
      made.append(.node(joined[0]))
    } else {
      joined.sort { (costs[$0], $0) < (costs[$1], $1) }
      let first = parts.count
      parts += joined
      let cost = joined.reduce(0) { $0 &+ costs[$1] }
      let range = first..<parts.count
      made.append(.node(add(isAnd ? .all(range) : .any(range), cost)))
    }
  }

  private mutating func negate() {
    switch made.removeLast() {
    case .constant(let holds): made.append(.constant(!holds))
    case .node(let node): made.append(.node(add(.not(node), costs[node])))
    }
  }

  private func finished() -> ClusterTest {
    switch made[0] {
    case .constant(let holds): return ConstantTest(holds)
    case .node(let root):
      if case .test(let test) = nodes[root] { return test }
      return LogicTest(nodes, parts: parts, root: root, cost: costs[root])
    }
  }
}
