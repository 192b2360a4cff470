import RealmServer
import RealmStorage
import RealmSync

/// Counts of the instructions that took effect as they were written and of those that did not, for each kind. An
/// instruction does not if others changed the same place, or if its object was refused.
package struct DecidedInstructions {
  private struct Fate {
    var asWritten = 0
    var otherwise = 0
  }

  private var fates: [String: Fate] = [:]

  /// The kinds that a run must meet in both ways. The writer of the simulation has no properties with defaults, so
  /// `ModelReplay` tests those.
  private static let kinds = [
    "create", "delete", "set", "add", "new embedded", "kill embedded", "insert", "move", "erase",
    "set insert", "set erase", "clear",
  ]

  package init() {}

  /// Adds the effects that a changeset had at the server.
  mutating func add(_ changeset: Changeset, _ entry: HistoryEntry) {
    var effects: [ObjectName: [Instruction]] = [:]
    for object in entry.objects { effects[object.name, default: []] += object.effects.map(\.instruction) }
    for object in changeset.objects {
      var left = effects[object.id] ?? []
      for instruction in object.instructions {
        let kind = Self.kind(instruction)
        guard let place = left.firstIndex(where: { Self.kind($0) == kind && $0.path == instruction.path })
        else {
          fates[kind, default: Fate()].otherwise += 1
          continue
        }
        left.remove(at: place)
        fates[kind, default: Fate()].asWritten += 1
      }
    }
  }

  private static func kind(_ instruction: Instruction) -> String {
    switch instruction {
    case .create: "create"
    case .delete: "delete"
    case .set(_, _, let isDefault): isDefault ? "default" : "set"
    case .add: "add"
    case .newEmbedded: "new embedded"
    case .killEmbedded: "kill embedded"
    case .insert: "insert"
    case .move: "move"
    case .erase: "erase"
    case .setInsert: "set insert"
    case .setErase: "set erase"
    case .clear: "clear"
    case .ingest: "ingest"
    }
  }

  /// The numbers of instructions that took effect as they were written, and of those that did not, for each kind.
  package var text: String {
    Self.kinds.map { "\($0) \(fates[$0]?.asWritten ?? 0)/\(fates[$0]?.otherwise ?? 0)" }.joined(
      separator: ", ")
  }

  /// The kinds whose instructions all took effect as they were written, or never did.
  package var notMet: [String] {
    Self.kinds.filter { (fates[$0]?.asWritten ?? 0) == 0 || (fates[$0]?.otherwise ?? 0) == 0 }
  }

  static func += (left: inout DecidedInstructions, right: DecidedInstructions) {
    for (kind, fate) in right.fates {
      left.fates[kind, default: Fate()].asWritten += fate.asWritten
      left.fates[kind, default: Fate()].otherwise += fate.otherwise
    }
  }
}
