import RealmStorage

/// Finds the observers that a change of a table concerns, without looking at those of other tables.
struct ObservationIndex {
  private var byTable: [UInt32: [Observation]] = [:]
  /// The observers that every change concerns.
  private var everywhere: [Observation] = []

  init(_ observations: [Observation]) {
    for observation in observations {
      guard let tables = observation.tables else {
        everywhere.append(observation)
        continue
      }
      for table in tables { byTable[table, default: []].append(observation) }
    }
  }

  /// The tables that at least one observer watches.
  func tables(_ step: VersionStep) throws(StorageError) -> Set<UInt32> {
    everywhere.isEmpty ? Set(byTable.keys) : Set(try step.schemas().map(\.id))
  }

  /// Returns the observers that changes of some tables concern, each of them once.
  func concerned(by changed: Set<UInt32>) -> [Observation] {
    if changed.isEmpty { return [] }
    var found = everywhere
    var known: Set<ObjectIdentifier> = []
    for table in changed {
      for observation in byTable[table] ?? [] where known.insert(ObjectIdentifier(observation)).inserted {
        found.append(observation)
      }
    }
    return found
  }
}
