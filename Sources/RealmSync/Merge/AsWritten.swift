import RealmStorage

extension [Instruction] {
  /// The effects of instructions if all of them took effect as they were written.
  package func asWritten(_ context: MergeContext) -> [Effect] {
    var effects: [Effect] = []
    for instruction in self {
      switch instruction {
      case .insert(let path, let id, let left, _, let value):
        effects.append(Effect(.insert(path, id, left: left, right: .none, value)))
      case .move(let path, let element, let id, let left, _):
        effects.append(Effect(.move(path, element, id: id, left: left, right: .none)))
      case .create:
        effects.append(Effect(.create))
        if let partition = context.partition {
          effects.append(
            Effect(.set(InstructionPath(partition.property), .value(partition.value), isDefault: false)))
        }
      case .set(let path, _, _) where path.property == context.partition?.property && path.steps.isEmpty:
        break
      default: effects.append(Effect(instruction))
      }
    }
    return effects
  }
}

extension [Effect] {
  /// True if the effects are those of the instructions as they were written. The writer then has the effects already.
  package func areAsWritten(_ instructions: [Instruction], _ context: MergeContext) -> Bool {
    let written = instructions.asWritten(context)
    return written.count == count
      && zip(self, written).allSatisfy { done, written in
        // The writer works out the other facts of a position in the same way as the server.
        done.instruction == written.instruction && (done.order.map { $0.dead == .none && !$0.isLost } ?? true)
      }
  }
}
