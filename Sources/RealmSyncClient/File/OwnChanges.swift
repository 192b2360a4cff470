import RealmStorage
import RealmSync

/// Checks what a part of a step tells in the name of the file itself.
///
/// Only the file makes changesets and gives ids of elements in its name. An honest server tells only what it got from
/// the file and has decided. Anything else in that name was made up, and could be an id that the file gives later.
struct OwnChanges {
  /// The numbers by which the part names the file.
  private let names: Set<UInt32>
  /// The own changesets that the parts up to this one tell as decided.
  private let told: [OwnChangeset]
  private let part: Step
  private let position: ClientPosition
  private let pending: PendingChangesets
  /// True if the file is a new replica, which has made nothing yet.
  private let isNew: Bool
  /// The counters of the ids that decided changesets of the file give, by their sequences as this replica.
  private var given: [UInt64: Set<UInt32>] = [:]
  /// The counters of the ids in the changesets that the step leaves pending; nil until they are asked for.
  private var undecided: Set<UInt32>?

  /// The result is nil if the part does not name the replica with this number.
  init?(
    _ number: UInt64, in part: Step, told: [OwnChangeset], isNew: Bool, _ position: ClientPosition,
    _ pending: PendingChangesets
  ) {
    names = Set(part.replicas.indices.filter { part.replicas[$0] == number }.map { UInt32($0) })
    guard !names.isEmpty else { return nil }
    (self.part, self.told, self.isNew) = (part, told + part.own, isNew)
    (self.position, self.pending) = (position, pending)
  }

  /// True if the file has made everything that the part tells in its name.
  mutating func areMade() throws(StorageError) -> Bool {
    for object in part.objects {
      switch object.change {
      case .left: break
      case .deleted(let decided): guard isMade(decided) else { return false }
      case .whole(let content):
        for instruction in content { guard try isKnown(instruction) else { return false } }
      case .effects(let all):
        for case .others(let decided, let effects) in all {
          guard isMade(decided) else { return false }
          for effect in effects { guard try isGiven(effect.instruction, decided) else { return false } }
        }
      }
    }
    return true
  }

  /// The own changeset that made a decision; nil if it is none of those that the parts tell.
  private func changeset(_ decided: DecidedBy) -> OwnChangeset? {
    told.first { $0.version == decided.version && $0.stamp == decided.stamp }
  }

  private func isMade(_ decided: DecidedBy) -> Bool {
    !names.contains(decided.replica) || !isNew && changeset(decided) != nil
  }

  /// The counter of the id that an instruction gives in the name of the file; nil if it gives none.
  private func counter(_ instruction: Instruction) -> UInt32? {
    switch instruction {
    case .insert(_, let id, _, _, _), .move(_, _, let id, _, _):
      names.contains(id.replica) ? id.counter : nil
    default: nil
    }
  }

  /// True if the changeset that made the decision gives the id of the instruction, or if the instruction gives no id in
  /// the name of the file.
  private mutating func isGiven(
    _ instruction: Instruction, _ decided: DecidedBy
  ) throws(StorageError) -> Bool {
    guard let counter = counter(instruction) else { return true }
    guard !isNew, names.contains(decided.replica), let own = changeset(decided) else { return false }
    if given[own.sequence] == nil {
      given[own.sequence] = try counters(of: own.sequence &+ position.earlierSequences)
    }
    return given[own.sequence]?.contains(counter) ?? false
  }

  /// True if the file has given the id of the instruction and the server may know it, or if the instruction gives no id
  /// in the name of the file.
  private mutating func isKnown(_ instruction: Instruction) throws(StorageError) -> Bool {
    guard let counter = counter(instruction) else { return true }
    guard !isNew, UInt64(counter) < pending.state.nextElement else { return false }
    if undecided == nil {
      var found: Set<UInt32> = []
      let last = part.lastSequence &+ position.earlierSequences
      for sequence in try pending.sequences() where sequence > last {
        found.formUnion(try counters(of: sequence))
      }
      undecided = found
    }
    return undecided?.contains(counter) == false
  }

  /// The counters of the ids that a changeset of the file gives.
  private func counters(of sequence: UInt64) throws(StorageError) -> Set<UInt32> {
    var found: Set<UInt32> = []
    for object in try pending.pending(sequence)?.changeset.objects ?? [] {
      for case .insert(_, let id, _, _, _) in object.instructions where id.replica == pending.state.replica {
        found.insert(id.counter)
      }
      for case .move(_, _, let id, _, _) in object.instructions where id.replica == pending.state.replica {
        found.insert(id.counter)
      }
    }
    return found
  }
}

extension ClientFile {
  /// Checks that a part of a step tells no change and no id in the name of the file that the file has not made.
  ///
  /// - Parameters:
  ///   - told: the own changesets that the parts before this one tell.
  ///   - registered: the number that the file gets by a reset, if the part belongs to the step of the reset; otherwise
  ///     nil.
  /// - Throws: `.forgedOwnChange`; `.storage`.
  package func checkOwnChanges(
    in part: Step, told: [OwnChangeset] = [], resetTo registered: UInt64? = nil
  ) throws(ClientProblem) {
    let found = OwnChanges(
      registered ?? number, in: part, told: told, isNew: registered != nil, position, pending)
    guard var changes = found else { return }
    let areMade = try storing { () throws(StorageError) in try changes.areMade() }
    guard areMade else { throw .forgedOwnChange }
  }
}
