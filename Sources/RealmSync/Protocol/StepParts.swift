import RealmStorage

extension Step {
  /// The parts of one step, put together; nil of what are not all parts of one.
  package init?(joining parts: [Step]) {
    guard var whole = parts.last, whole.isLast, parts.dropLast().allSatisfy({ $0.precedes(whole) }) else {
      return nil
    }
    if parts.count > 1 {
      (whole.replicas, whole.objects, whole.own, whole.schema) = ([0], [], [], [])
      var places: [UInt64: UInt32] = [0: 0]
      for part in parts { whole.append(part, &places) }
    }
    self = whole
  }

  private func precedes(_ last: Step) -> Bool {
    !isLast && from == last.from && to == last.to && tag == last.tag && querySet == last.querySet
      && partition == last.partition && mark == last.mark && lastSequence == last.lastSequence
  }

  /// The replicas of the part get other numbers.
  ///
  /// - Parameter places: those of the replicas that are named already.
  private mutating func append(_ part: Step, _ places: inout [UInt64: UInt32]) {
    var indexes: [UInt32] = []
    for number in part.replicas {
      let place = places[number] ?? UInt32(replicas.count)
      if places[number] == nil {
        places[number] = place
        replicas.append(number)
      }
      indexes.append(place)
    }
    schema += part.schema
    own += part.own
    objects += part.objects.map { object in
      object.mapReplicas { Int($0) < indexes.count ? indexes[Int($0)] : 0 }
    }
  }
}

extension ObjectStep {
  /// The same with the replicas by other numbers.
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
