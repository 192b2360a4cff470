import RealmStorage

/// The reason why parts of a step can't be joined.
package enum StepPartsProblem: Error, Sendable, Equatable {
  /// The parts do not make up one whole step.
  case incomplete
  /// The parts name more replicas than `MessageLimit.stepReplicas`.
  case tooManyReplicas
}

extension Step {
  /// Joins the parts of one step.
  ///
  /// - Precondition: all objects of the parts are values (`expanded`).
  package init(joining parts: [Step]) throws(StepPartsProblem) {
    guard var whole = parts.last, whole.isLast, parts.dropLast().allSatisfy({ $0.precedes(whole) }) else {
      throw .incomplete
    }
    if parts.count > 1 {
      (whole.replicas, whole.objects, whole.own, whole.schema) = ([0], [], [], [])
      var places: [UInt64: UInt32] = [0: 0]
      for part in parts { try whole.append(part, &places) }
    }
    self = whole
  }

  private func precedes(_ last: Step) -> Bool {
    !isLast && from == last.from && to == last.to && tag == last.tag && querySet == last.querySet
      && partition == last.partition && mark == last.mark && lastSequence == last.lastSequence
  }

  /// Appends a part, with new numbers for its replicas.
  ///
  /// - Parameter places: the numbers of the replicas that are named already.
  private mutating func append(_ part: Step, _ places: inout [UInt64: UInt32]) throws(StepPartsProblem) {
    var indexes: [UInt32] = []
    for number in part.replicas {
      let place = places[number] ?? UInt32(replicas.count)
      indexes.append(place)
      guard place == replicas.count else { continue }
      guard replicas.count < MessageLimit.stepReplicas else { throw .tooManyReplicas }
      replicas.append(number)
      places[number] = place
    }
    schema += part.schema
    own += part.own
    objects += part.objects.map { object in
      object.mapReplicas { Int($0) < indexes.count ? indexes[Int($0)] : 0 }
    }
  }
}

extension ObjectStep {
  /// The same change with other numbers for the replicas.
  package func mapReplicas(_ map: (UInt32) -> UInt32) -> ObjectStep {
    func decided(_ by: DecidedBy) -> DecidedBy {
      DecidedBy(version: by.version, stamp: by.stamp, replica: map(by.replica))
    }
    let change: Change =
      switch self.change {
      case .effects(let all):
        .effects(
          all.map { effects in
            guard case .others(let by, let made) = effects else { return effects }
            return .others(decided(by), made.map { $0.mapReplicas(map) })
          })
      case .whole(let content): .whole(content.map { $0.mapReplicas(map) })
      case .left: .left
      case .deleted(let by): .deleted(decided(by))
      }
    return ObjectStep(name, change)
  }
}
