import RealmStorage
import RealmSync

/// The parts of a step. The parts before the last one may stand in the file meanwhile, so that a large step takes no
/// more memory than one part. The objects that they create may be prepared.
package struct StepParts: Sendable {
  /// The parts without their objects, in order.
  private(set) var headers: [Step] = []
  /// The number of parts, from the first on, that stand in the file.
  private(set) var staged = 0
  /// The other parts, which are in memory.
  private(set) var held: [Step] = []
  /// All replicas that the parts name.
  private(set) var replicas: Set<UInt64> = []

  package init(_ parts: [Step] = []) {
    for part in parts { hold(part) }
  }

  private mutating func add(_ part: Step) {
    headers.append(part.header)
    replicas.formUnion(part.replicas)
  }

  package mutating func hold(_ part: Step) {
    add(part)
    held.append(part)
  }

  /// - Precondition: no part is held.
  package mutating func stage(_ part: Step) {
    add(part)
    staged += 1
  }

  /// The step without its objects; nil if these are not all parts of one step.
  var header: Step? { try? Step(joining: headers) }
}

extension Step {
  /// The part without its objects and the replicas that it names.
  fileprivate var header: Step {
    var header = self
    (header.objects, header.created, header.replicas) = ([], nil, [0])
    return header
  }
}

/// The parts of a step in a file. They stand beside the position of the file, under the key 4 and the number of the
/// part. Prepared objects are left out of their parts there.
struct StagedParts {
  private let tree: WritableTree
  private static let kind: UInt8 = 4

  init(_ transaction: WriteTransaction) throws(StorageError) {
    tree = try transaction.tree(ClientPosition.tree)
  }

  private func key(_ number: Int) -> [UInt8] {
    var key = [Self.kind]
    key.appendHighestFirst(UInt64(number))
    return key
  }

  func store(_ part: Step, _ number: Int) throws(StorageError) {
    try tree.set(part.created?.message ?? ServerMessage.step(part).bytes, for: key(number))
  }

  /// - Parameter header: the part without its objects, as it arrived. If another session has stored a part under this
  ///   number meanwhile, its header differs, and this method throws.
  func part(_ number: Int, _ header: Step) throws(StorageError) -> Step {
    guard let bytes = try tree.value(for: key(number)),
      case .step(let step)? = try? ServerMessage(bytes: bytes), step.header == header
    else { throw tree.damaged }
    return step
  }

  var isEmpty: Bool {
    get throws(StorageError) {
      var isEmpty = true
      try tree.forEach(from: [Self.kind]) { (key, _) in
        isEmpty = key.first != Self.kind
        return false
      }
      return isEmpty
    }
  }

  func removeAll() throws(StorageError) {
    var gone: [[UInt8]] = []
    try tree.forEach(from: [Self.kind]) { (key, _) in
      guard key.first == Self.kind else { return false }
      gone.append(key)
      return true
    }
    for key in gone { try tree.removeValue(for: key) }
  }
}

extension WriteTransaction {
  /// Forgets the parts of a step whose last part did not arrive, and the objects that were prepared from them.
  func forgetStagedParts() throws(StorageError) {
    try StagedParts(self).removeAll()
    let prepared = try PreparedObjects(self)
    for name in prepared.classes { try prepared.forget(name) }
  }
}

extension ClientFile {
  /// Stores a part of a step until all parts have arrived.
  ///
  /// - Parameter prepares: true if definitions are merged at once, and objects of classes without objects are prepared.
  ///   It must be false for a step that resets the file.
  package func stage(_ part: Step, number: Int, prepares: Bool) throws(ClientProblem) {
    try storing { () throws(StorageError) in
      var part = part
      if prepares {
        try transaction.merge(part.schema)
        if let created = part.created {
          let left = try PreparedObjects(transaction).add(created)
          if left.count < created.count {
            let all = left.isEmpty ? [] : created.objects
            part.created = nil
            part.objects = left.map { ObjectStep(all[$0].id, .whole(all[$0].instructions)) }
          }
        }
      }
      try StagedParts(transaction).store(part, number)
    }
  }

  /// Makes one of the indexes of prepared objects.
  ///
  /// - Returns: false if no index is left to be made.
  /// - Throws: `ClientProblem`. The case `.storage(.duplicateKey)` means that two objects have the same key. They are
  ///   made one by one then.
  package func indexPreparedObjects() throws(ClientProblem) -> Bool {
    try storing { () throws(StorageError) in try PreparedObjects(transaction).makeIndex() }
  }

  /// True if the file has stored parts of a step whose last part did not arrive, or prepared objects of such a step.
  package var hasStagedParts: Bool {
    get throws(ClientProblem) {
      try storing { () throws(StorageError) in
        guard try StagedParts(transaction).isEmpty else { return true }
        return try !PreparedObjects(transaction).classes.isEmpty
      }
    }
  }

  /// Forgets the stored parts, and the objects that were prepared from them.
  package func forgetStagedParts() throws(ClientProblem) {
    try storing { () throws(StorageError) in try transaction.forgetStagedParts() }
  }
}
