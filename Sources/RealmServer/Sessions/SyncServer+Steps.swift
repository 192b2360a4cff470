import RealmStorage
import RealmSync

/// Makes the steps that tell clients what has changed for them.
extension SyncServer {
  func sendSteps(_ time: UInt64) throws(StorageError) {
    var transaction: WriteTransaction?
    defer { transaction?.cancel() }
    let isLogAhead = node.state.version < node.end
    var definitions: [SchemaInstruction]?
    // The sessions that wait because of another session of their user.
    var waiting: [SessionID] = []
    for id in ids {
      guard let session = session(id), case .running(let running) = session.state else { continue }
      guard node.state.goesOn(running.replica, appended: isLogAhead ? 0 : running.appended) else {
        fail(id, .reset, "What the file has sent can't be decided. It is to connect again.")
        continue
      }
      guard running.building == nil, session.unsent < limits.unsentBytes else { continue }
      let wanted = max(
        running.wanted, node.state.newestQuerySet(of: running.replica, upTo: running.asked))
      guard wanted >= running.awaited, needsStep(id, running, wanted: wanted) else { continue }
      let view = node.state.view(of: running.replica, querySet: wanted)
      guard view == running.view || mayMove(id) else {
        waiting.append(id)
        continue
      }
      if transaction == nil { transaction = try node.database.beginWrite() }
      guard let transaction else { continue }
      do throws(StorageError) {
        if definitions == nil { definitions = try transaction.definitions() }
        try sendStep(id, running, wanted: wanted, view, definitions ?? [], time, transaction)
      } catch {
        // The other sessions go on.
        note(error)
        fail(id, .unavailable, Self.halted)
      }
    }
    let isBehind = goOnBuilding(time)
    hasWork = isBehind || waiting.contains { mayMove($0) } || building.contains { mayGoOn($0, time) }
  }

  /// Whether a session needs a step, because there is something to tell it, or because it was not told its version for
  /// long.
  private func needsStep(_ id: SessionID, _ running: ServerSession.Running, wanted: UInt64) -> Bool {
    let state = node.state
    if running.isFirst || wanted != running.querySet { return true }
    guard running.version < state.version else { return false }
    if running.version < running.owed, state.version >= running.owed { return true }
    return concerned.contains(id) || running.told != state.lastSequence(of: running.replica)
      || state.version - running.version >= limits.idleVersions
      || state.view(of: running.replica, querySet: wanted) != running.view
  }

  private func sendStep(
    _ id: SessionID, _ running: ServerSession.Running, wanted: UInt64, _ new: View,
    _ definitions: [SchemaInstruction], _ time: UInt64, _ transaction: WriteTransaction
  ) throws(StorageError) {
    var request = StepRequest(
      replica: running.replica, from: running.version, old: running.view, new: new, querySet: wanted)
    request.told = running.told
    // Definitions are added, and properties become optional. The client is told all definitions if any have changed.
    request.definitions = running.definitions == definitions ? [] : definitions
    (request.partBytes, request.wholeVersions) = (limits.partBytes, limits.wholeVersions)
    guard let step = try StepBuild(node.state, request, transaction) else {
      return fail(id, .reset, "The file is older than what the server keeps.")
    }
    concerned.remove(id)
    building.insert(id)
    var running = running
    running.building = ServerSession.Building(
      step: step, querySet: wanted, view: new, definitions: definitions, began: time)
    become(id, .running(running))
    try goOn(id)
  }

  // MARK: - Steps that take several turns

  /// Makes the next parts of one of the steps that are not complete. These steps take turns.
  ///
  /// - Returns: whether a step was completed and its session needs another one.
  private func goOnBuilding(_ time: UInt64) -> Bool {
    let all = building.filter { mayGoOn($0, time) }
    guard let id = all.filter({ $0 > lastBuilt }).min() ?? all.min() else { return false }
    lastBuilt = id
    do throws(StorageError) {
      try goOn(id)
    } catch {
      note(error)
      fail(id, .unavailable, Self.halted)
    }
    return !building.contains(id) && concerned.contains(id)
  }

  /// Whether the next parts of a step may be made. They wait until those before them have left the machine, but not so
  /// long that the version of the step is held for ever.
  private func mayGoOn(_ id: SessionID, _ time: UInt64) -> Bool {
    guard let session = session(id), case .running(let running) = session.state,
      let building = running.building
    else { return false }
    return session.unsent < limits.unsentBytes || time - min(time, building.began) > limits.longestStep
  }

  private func goOn(_ id: SessionID) throws(StorageError) {
    guard case .running(var running)? = session(id)?.state, var building = running.building else { return }
    var frames: [[UInt8]] = []
    let isMade = try building.step.go(limits.rowsAtOnce) { frames.append(ServerMessage.step($0).bytes) }
    for frame in frames { send(frame: frame, to: id) }
    running.building = isMade ? nil : building
    if isMade {
      self.building.remove(id)
      // Entries that came meanwhile were matched with the old view, so the session may need another step.
      if building.step.version < node.state.version { concerned.insert(id) }
      (running.version, running.querySet, running.view) = (
        building.step.version, building.querySet, building.view
      )
      (running.wanted, running.isFirst, running.definitions) = (
        max(running.wanted, building.querySet), false, building.definitions
      )
      running.told = building.step.lastSequence
    }
    become(id, .running(running))
  }
}
