/// The versions that participants read: one entry for each participant and version, whatever the number of its
/// snapshots.
///
///     word  0 owner (its number plus one; 0: free), 1 version (0: none), 2 since when
///
/// A reader that pins stores the version, then loads the current version, and starts again if that has changed. A
/// writer that gives out space loads the current version, then reads the entries. All threads agree on one order of
/// these accesses, so one of the two sees the other, and no page of a pinned version is given out. An entry is never
/// handed from one owner to another without being zero in between.
struct ReaderTable: Sendable {
  let segments: Segments
  private var memory: SharedMemory { segments.memory }
  /// The word with one more than the last entry that was ever taken since the block was made.
  private static let usedWord = 14

  private func word(_ entry: Int) -> Int {
    segments.start(entry / ControlPlace.entriesPerSegment) / 8
      + entry % ControlPlace.entriesPerSegment * (ControlPlace.readerBytes / 8)
  }

  private var used: Int { min(Int(clamping: memory[word: Self.usedWord]), segments.entryCount) }

  /// Takes a free entry for a participant.
  ///
  /// - Throws: `.limitExceeded(.readers)`; `.system` if the table can't grow.
  func take(for participant: Int) throws(StorageError) -> Int {
    while true {
      let count = segments.count
      for entry in 0..<count * ControlPlace.entriesPerSegment
      where memory[word: word(entry)] == 0
        && memory.exchange(word: word(entry), from: 0, to: UInt64(participant + 1))
      {
        noteUse(of: entry)
        return entry
      }
      try segments.add(to: count)
    }
  }

  /// Notes that an entry is used, before anything is pinned there, because a writer that gives out space looks no
  /// further than the last entry used.
  private func noteUse(of entry: Int) {
    while true {
      let used = memory[word: Self.usedWord]
      if used > UInt64(entry) || memory.exchange(word: Self.usedWord, from: used, to: UInt64(entry + 1)) {
        return
      }
    }
  }

  /// Pins the current version, in an entry of the caller.
  func pin(_ entry: Int, in block: ControlBlock) -> ControlBlock.Named {
    memory[word: word(entry) + 2] = Clock.now
    while true {
      let current = block.current
      memory[word: word(entry) + 1] = current.number
      if block.current == current { return current }
    }
  }

  /// Pins a version, in an entry of the caller.
  func pin(_ entry: Int, version: UInt64) {
    memory[word: word(entry) + 2] = Clock.now
    memory[word: word(entry) + 1] = version
  }

  func unpin(_ entry: Int) { memory[word: word(entry) + 1] = 0 }

  func giveBack(_ entry: Int) {
    memory[word: word(entry) + 1] = 0
    memory[word: word(entry)] = 0
  }

  struct Pin: Equatable, Sendable {
    var version: UInt64
    var participant: Int
    var since: UInt64
  }

  /// All pins of all participants.
  var pins: [Pin] {
    var pins: [Pin] = []
    forEachPin { pins.append($0) }
    return pins
  }

  func forEachPin(_ body: (Pin) -> Void) {
    for entry in 0..<used {
      let version = memory[word: word(entry) + 1]
      let owner = memory[word: word(entry)]
      if version != 0, owner != 0 {
        body(
          Pin(version: version, participant: Int(clamping: owner - 1), since: memory[word: word(entry) + 2]))
      }
    }
  }

  /// Frees the entries of a participant that is gone.
  func strikeOff(_ participant: Int) {
    for entry in 0..<used where memory[word: word(entry)] == UInt64(participant + 1) { giveBack(entry) }
  }

  /// Forgets all pins. The caller rebuilds the block and must be alone.
  func clear() {
    for entry in 0..<segments.entryCount {
      memory.clear(word: word(entry) + 1)
      memory.clear(word: word(entry))
    }
    memory[word: Self.usedWord] = 0
  }
}
