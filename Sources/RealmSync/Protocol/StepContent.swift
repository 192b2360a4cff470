import RealmStorage

// The objects of a step are written as one changeset with the instructions of all objects, and a table. The table tells
// for each object the kind of its change, and which changesets decided which of its instructions.

/// The kinds of changes of an object.
private enum ChangeKind {
  static let effects: UInt8 = 0
  static let whole: UInt8 = 1
  static let left: UInt8 = 2
  static let deleted: UInt8 = 3
}

/// The bits of the byte that tells the order of an element. The byte is 0 if the element hangs on the right of the
/// neighbour that its instruction names, and no ended position stands between them.
private enum OrderFlag {
  /// No order is told. No other bit is set then.
  static let none: UInt8 = 1
  /// An id follows for each of the next three bits that is set.
  static let dead: UInt8 = 2
  static let parent: UInt8 = 4
  static let left: UInt8 = 8
  static let isLeftOfParent: UInt8 = 16
  static let isLost: UInt8 = 32
  static let all: UInt8 = 63
}

extension Instruction {
  /// The left neighbour of an element that is inserted or moved; nil for an instruction without an order.
  fileprivate var leftNeighbour: ElementID? {
    switch self {
    case .insert(_, _, let left, _, _), .move(_, _, _, let left, _): left
    default: nil
    }
  }
}

// MARK: - Writing

/// Collects the objects of a step.
struct StepContent {
  private var changeset = Changeset()
  private var deciders: [DecidedBy] = []
  /// The places of the deciding changesets, from 1.
  private var places: [DecidedBy: Int] = [:]
  private var table: [UInt8] = []

  init(_ schema: [SchemaInstruction]) { changeset.schema = schema }

  mutating func append(_ object: ObjectStep) {
    var instructions: [Instruction] = []
    switch object.change {
    case .effects(let effects):
      table.append(ChangeKind.effects)
      table.appendVarint(UInt64(effects.count))
      for effects in effects { append(effects, &instructions) }
    case .whole(let whole):
      table.append(ChangeKind.whole)
      instructions = whole
    case .left: table.append(ChangeKind.left)
    case .deleted(let decider):
      table.append(ChangeKind.deleted)
      table.appendVarint(place(of: decider))
    }
    changeset.objects.append(ObjectInstructions(object.name, instructions))
  }

  private mutating func append(_ effects: ObjectEffects, _ instructions: inout [Instruction]) {
    switch effects {
    case .own(let sequence):
      table.append(0)
      table.appendVarint(sequence)
    case .others(let decider, let effects):
      table.appendVarint(place(of: decider))
      table.appendVarint(UInt64(effects.count))
      for effect in effects {
        instructions.append(effect.instruction)
        guard let left = effect.instruction.leftNeighbour else { continue }
        append(effect.order, left)
      }
    }
  }

  private mutating func place(of decider: DecidedBy) -> UInt64 {
    if let place = places[decider] { return UInt64(place) }
    deciders.append(decider)
    places[decider] = deciders.count
    return UInt64(deciders.count)
  }

  private mutating func append(_ order: ElementOrder?, _ left: ElementID) {
    guard let order else { return table.append(OrderFlag.none) }
    var flags: UInt8 = 0
    if order.dead != .none { flags |= OrderFlag.dead }
    if order.parent != left { flags |= OrderFlag.parent }
    if order.left != left { flags |= OrderFlag.left }
    if order.isLeftOfParent { flags |= OrderFlag.isLeftOfParent }
    if order.isLost { flags |= OrderFlag.isLost }
    table.append(flags)
    if flags & OrderFlag.dead != 0 { table.append(elementID: order.dead) }
    if flags & OrderFlag.parent != 0 { table.append(elementID: order.parent) }
    if flags & OrderFlag.left != 0 { table.append(elementID: order.left) }
  }

  /// Appends the changeset, the deciding changesets, and the table.
  func append(to bytes: inout [UInt8]) {
    bytes.append(counted: changeset.bytes)
    bytes.append(list: deciders)
    bytes += table
  }
}

extension [UInt8] {
  /// Appends whole objects in the form that `StepContent` writes.
  mutating func append(created: CreatedObjects) {
    append(counted: created.bytes)
    append(list: [DecidedBy]())
    self += repeatElement(ChangeKind.whole, count: created.count)
  }
}

// MARK: - Reading

extension MessageReader {
  /// A changeset with fewer bytes is read as values at once.
  private static let leastCreatedBytes = 16 << 10

  /// Reads a changeset that only creates whole objects, and its table. The result is nil, and nothing is read, if
  /// another changeset stands here, or one that is shorter than `leastCreatedBytes`.
  mutating func createdObjects() throws(MessageDamage) -> CreatedObjects? {
    let before = self
    let bytes = try bytes("changeset")
    if bytes.count >= Self.leastCreatedBytes,
      let created = CreatedObjects(bytes, most: MessageLimit.stepInstructions),
      try count("deciding changesets") == 0
    {
      var isWhole = true
      for _ in 0..<created.count where isWhole { isWhole = try byte("kind of a change") == ChangeKind.whole }
      if isWhole { return created }
    }
    self = before
    return nil
  }

  /// Reads the changes of the objects of a changeset that was read before.
  ///
  /// - Parameter replicas: the number of replicas that the step names.
  mutating func objectSteps(
    _ objects: [ObjectInstructions], replicas: Int
  ) throws(MessageDamage) -> [ObjectStep] {
    let start = offset
    let deciders: [DecidedBy] = try list("deciding changesets")
    guard deciders.allSatisfy({ $0.replica < replicas }) else {
      throw damage("deciding changesets", .disagrees, at: start)
    }
    var steps: [ObjectStep] = []
    for object in objects {
      steps.append(ObjectStep(object.id, try change(object.instructions, deciders)))
    }
    return steps
  }

  private mutating func change(
    _ instructions: [Instruction], _ deciders: [DecidedBy]
  ) throws(MessageDamage) -> ObjectStep.Change {
    let start = offset
    let kind = try byte("kind of a change")
    switch kind {
    case ChangeKind.effects: return .effects(try effects(instructions, deciders))
    case ChangeKind.whole: return .whole(instructions)
    case ChangeKind.left, ChangeKind.deleted:
      guard instructions.isEmpty else { throw damage("kind of a change", .disagrees, at: start) }
      return kind == ChangeKind.left ? .left : .deleted(try decider(deciders))
    default: throw damage("kind of a change", .unknownKind(UInt64(kind)), at: start)
    }
  }

  private mutating func decider(_ deciders: [DecidedBy]) throws(MessageDamage) -> DecidedBy {
    let start = offset
    let place = try number("deciding changeset", limit: UInt64(deciders.count))
    guard place > 0 else { throw damage("deciding changeset", .disagrees, at: start) }
    return deciders[Int(place) - 1]
  }

  /// Assigns the instructions to changesets from the first on. No instruction may be left over.
  private mutating func effects(
    _ instructions: [Instruction], _ deciders: [DecidedBy]
  ) throws(MessageDamage) -> [ObjectEffects] {
    var rest = instructions[...]
    var effects: [ObjectEffects] = []
    let start = offset
    for _ in 0..<(try count("changesets of an object")) {
      let place = try number("deciding changeset", limit: UInt64(deciders.count))
      guard place > 0 else {
        effects.append(.own(sequence: try number("sequence")))
        continue
      }
      let taken = Int(try number("instructions of a changeset", limit: UInt64(rest.count)))
      var made: [Effect] = []
      for instruction in rest.prefix(taken) {
        made.append(Effect(instruction, order: try order(of: instruction)))
      }
      effects.append(.others(deciders[Int(place) - 1], made))
      rest = rest.dropFirst(taken)
    }
    guard rest.isEmpty else { throw damage("changesets of an object", .disagrees, at: start) }
    return effects
  }

  private mutating func order(of instruction: Instruction) throws(MessageDamage) -> ElementOrder? {
    guard let left = instruction.leftNeighbour else { return nil }
    let start = offset
    let flags = try flags("order of an element", known: OrderFlag.all)
    if flags == OrderFlag.none { return nil }
    guard flags & OrderFlag.none == 0 else { throw damage("order of an element", .disagrees, at: start) }
    var order = ElementOrder(
      dead: .none, parent: left, isLeftOfParent: flags & OrderFlag.isLeftOfParent != 0, left: left,
      isLost: flags & OrderFlag.isLost != 0)
    if flags & OrderFlag.dead != 0 { order.dead = try elementID("position that ended") }
    if flags & OrderFlag.parent != 0 { order.parent = try elementID("parent of a position") }
    if flags & OrderFlag.left != 0 { order.left = try elementID("left neighbour of a position") }
    return order
  }
}
