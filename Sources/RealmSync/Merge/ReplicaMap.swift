import RealmStorage

extension Changeset {
  /// The changeset with other replica numbers in its ids of elements.
  package func mapReplicas(_ map: (UInt32) -> UInt32) -> Changeset {
    var made = self
    made.objects = objects.map { object in
      ObjectInstructions(object.id, object.instructions.map { $0.mapReplicas(map) })
    }
    return made
  }
}

extension Instruction {
  /// The instruction with other replica numbers in its ids of elements.
  package func mapReplicas(_ map: (UInt32) -> UInt32) -> Instruction { mapElements { $0.mapReplica(map) } }

  /// The instruction with other ids in place of those of elements and positions.
  package func mapElements(_ id: (ElementID) -> ElementID) -> Instruction {
    switch self {
    case .create, .delete, .ingest: self
    case .set(let path, let value, let isDefault): .set(path.mapElements(id), value, isDefault: isDefault)
    case .add(let path, let delta): .add(path.mapElements(id), delta)
    case .newEmbedded(let path): .newEmbedded(path.mapElements(id))
    case .killEmbedded(let path): .killEmbedded(path.mapElements(id))
    case .insert(let path, let element, let left, let right, let value):
      .insert(path.mapElements(id), id(element), left: id(left), right: id(right), value)
    case .move(let path, let element, let place, let left, let right):
      .move(path.mapElements(id), id(element), id: id(place), left: id(left), right: id(right))
    case .erase(let path, let element): .erase(path.mapElements(id), id(element))
    case .setInsert(let path, let value): .setInsert(path.mapElements(id), value)
    case .setErase(let path, let value): .setErase(path.mapElements(id), value)
    case .clear(let path, let kind): .clear(path.mapElements(id), kind)
    }
  }
}

extension Effect {
  /// The effect with other replica numbers in its ids of elements.
  package func mapReplicas(_ map: (UInt32) -> UInt32) -> Effect {
    Effect(
      instruction.mapReplicas(map),
      order: order.map {
        ElementOrder(
          dead: $0.dead.mapReplica(map), parent: $0.parent.mapReplica(map), isLeftOfParent: $0.isLeftOfParent,
          left: $0.left.mapReplica(map), isLost: $0.isLost)
      })
  }
}

extension InstructionPath {
  fileprivate func mapElements(_ map: (ElementID) -> ElementID) -> InstructionPath {
    let namesElement = steps.contains { if case .element = $0 { true } else { false } }
    guard namesElement else { return self }
    return InstructionPath(
      property,
      steps.map { step in
        if case .element(let id) = step { .element(map(id)) } else { step }
      })
  }
}

extension ElementID {
  fileprivate func mapReplica(_ map: (UInt32) -> UInt32) -> ElementID {
    replica == 0 ? self : ElementID(replica: map(replica), counter: counter)
  }
}
