import RealmStorage
import RealmSync

/// The parts of a step. Those that come before the last one may stand in the file meanwhile, so that a large step takes no more memory than a part, and objects that they create may be prepared.
package struct StepParts: Sendable {
  /// What the parts say beside the objects, in order.
  private(set) var headers: [Step] = []
  /// So many of the first parts stand in the file.
  private(set) var staged = 0
  /// The others.
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

  /// The step without its objects; nil where these are not all parts of one.
  var header: Step? { try? Step(joining: headers) }
}

extension Step {
  /// What a part says beside the objects.
  fileprivate var header: Step {
    var header = self
    (header.objects, header.created, header.replicas) = ([], nil, [0])
    return header
  }
}

/// Where parts of a step stand in a file: beside its position, under the key 4 and the number of the part. Objects that were prepared are not among those of their part there.
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

  /// - Parameter header: what came with the part beside its objects. A part that another session has kept meanwhile has another one.
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
  /// Forgets the parts of a step whose last one did not come, and the objects that were prepared of them.
  func forgetStagedParts() throws(StorageError) {
    try StagedParts(self).removeAll()
    let prepared = try PreparedObjects(self)
    for name in prepared.classes { try prepared.forget(name) }
  }
}

extension ClientFile {
  /// Keeps a part of a step until all are there.
  ///
  /// - Parameter prepares: definitions are merged at once, and objects of classes that have none are prepared. Not for a step that resets the file.
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

  /// Makes one of the indexes of objects that were prepared.
  ///
  /// - Returns: false where none is left to be made.
  /// - Throws: `ClientProblem`, of which `.storage(.duplicateKey)` tells that two objects have one key: then they are made one by one.
  package func indexPreparedObjects() throws(ClientProblem) -> Bool {
    try storing { () throws(StorageError) in try PreparedObjects(transaction).makeIndex() }
  }

  /// Whether parts of a step are kept, whose last one did not come, or objects of them are prepared.
  package var hasStagedParts: Bool {
    get throws(ClientProblem) {
      try storing { () throws(StorageError) in
        guard try StagedParts(transaction).isEmpty else { return true }
        return try !PreparedObjects(transaction).classes.isEmpty
      }
    }
  }

  /// Forgets them, and the objects that were prepared of them.
  package func forgetStagedParts() throws(ClientProblem) {
    try storing { () throws(StorageError) in try transaction.forgetStagedParts() }
  }
}
