import CRealmPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The handles that have the database open, called participants: one entry for each open handle of each process.
///
///     word  0 process id (0: free), 1 namespace of the process id, 2 waits for the lock, 3 waits for commits,
///           4 when its open write transaction began (0: none is open), 5 threads that wait to begin one,
///           6 relies on the schema it has found
///
/// Each participant holds a lock on its number. That nobody holds this lock proves that the participant is dead,
/// whatever namespace it lived in. No participant is struck off because of its age. The entries are changed under the
/// control lock, except for words 2 to 6.
struct Participants: Sendable {
  let memory: SharedMemory
  let storage: any Storage

  /// The word with one more than the last number that was ever taken since the block was made.
  private static let usedWord = 15
  private var used: Int { Int(min(memory[word: Self.usedWord], UInt64(ControlPlace.participantCount))) }

  private func word(_ number: Int) -> Int {
    (ControlPlace.participants + number * ControlPlace.participantBytes) / 8
  }

  /// Lists the caller, under the control lock.
  ///
  /// - Throws: `.limitExceeded(.processes)`, `.system`.
  func enter() throws(StorageError) -> Int {
    for number in 0..<ControlPlace.participantCount where memory[word: word(number)] == 0 {
      guard try storage.lock(.participant(number), waits: false) else { continue }
      memory[word: Self.usedWord] = max(memory[word: Self.usedWord], UInt64(number + 1))
      memory[word: word(number) + 1] = cp_pid_namespace()
      for own in 2...6 { memory[word: word(number) + own] = 0 }
      memory[word: word(number)] = UInt64(getpid())
      return number
    }
    throw .limitExceeded(.processes, path: storage.path)
  }

  /// Takes the caller off the list, under the control lock.
  func leave(_ number: Int) {
    memory[word: word(number)] = 0
    storage.unlock(.participant(number))
  }

  /// Frees what participants that died have left in the tables, under the control lock.
  func strikeOffTheDead(_ readers: ReaderTable, except own: Int?) {
    for number in 0..<used
    where number != own && memory[word: word(number)] != 0 && !storage.isHeldElsewhere(.participant(number)) {
      readers.strikeOff(number)
      memory[word: word(number)] = 0
    }
  }

  /// Forgets all participants. The caller rebuilds the block and must be alone.
  func clear() {
    for number in 0..<ControlPlace.participantCount { memory.clear(word: word(number)) }
    memory[word: Self.usedWord] = 0
  }

  /// The process of a participant, and whether its id means the same here.
  func process(_ number: Int) -> (id: UInt64, isLocal: Bool) {
    guard number < ControlPlace.participantCount else { return (0, false) }
    return (memory[word: word(number)], memory[word: word(number) + 1] == cp_pid_namespace())
  }

  // MARK: - Relying on the schema

  func setRelying(_ relies: Bool, _ number: Int) { memory[word: word(number) + 6] = relies ? 1 : 0 }

  /// The ids of the processes of other participants that rely on the schema; 0 for a process in another namespace of
  /// process ids.
  func relying(exceptFor own: Int) -> [UInt64] { processes { $0 != own && memory[word: word($0) + 6] != 0 } }

  /// The ids of the processes of other participants; 0 for a process in another namespace of process ids.
  func others(than own: Int) -> [UInt64] { processes { $0 != own } }

  private func processes(where isMeant: (Int) -> Bool) -> [UInt64] {
    (0..<used).compactMap { number in
      guard isMeant(number), memory[word: word(number)] != 0, storage.isHeldElsewhere(.participant(number))
      else { return nil }
      let process = process(number)
      return process.isLocal ? process.id : 0
    }
  }

  // MARK: - Waiting for commits

  /// Notes whether a participant waits for commits. A waiting thread sets this before it reads the current version, so
  /// that it sees a new version or the publisher sees this word.
  func setWatching(_ watches: Bool, _ number: Int) { memory[word: word(number) + 3] = watches ? 1 : 0 }

  var anyoneWatches: Bool {
    for number in 0..<used where memory[word: word(number) + 3] != 0 { return true }
    return false
  }

  // MARK: - Write transactions, for reports

  /// - Parameter since: when the open transaction began, in nanoseconds since 1970; 0 if none is open any more.
  func setWriting(since: UInt64, _ number: Int) { memory[word: word(number) + 4] = since }

  /// Notes how many threads wait to begin a transaction behind another one of this participant.
  func setWaitingThreads(_ count: Int, _ number: Int) {
    memory[word: word(number) + 5] = UInt64(max(count, 0))
  }

  /// The participant whose transaction is open, with the time when it began, and the number of all threads that wait to
  /// begin one. The values may be from different moments.
  func writing(own: Int) -> (open: (number: Int, since: UInt64)?, waiting: Int) {
    var open: (number: Int, since: UInt64)?
    var waiting = 0
    for number in 0..<used where memory[word: word(number)] != 0 {
      // The words that a dead process has left say nothing.
      guard number == own || storage.isHeldElsewhere(.participant(number)) else { continue }
      waiting += Int(clamping: memory[word: word(number) + 5]) + (memory[word: word(number) + 2] != 0 ? 1 : 0)
      let since = memory[word: word(number) + 4]
      if since != 0, open == nil { open = (number, since) }
    }
    return (open, waiting)
  }

  // MARK: - Waiting for the writer's lock

  func setWaiting(_ waits: Bool, _ number: Int) { memory[word: word(number) + 2] = waits ? 1 : 0 }

  /// Whether another participant waits for the writer's lock.
  func othersWait(than own: Int) -> Bool {
    for number in 0..<used where number != own {
      if memory[word: word(number)] != 0, memory[word: word(number) + 2] != 0 { return true }
    }
    return false
  }
}
