/// The roots of the versions that can be read: the published one, the durable one and those that are pinned.
///
/// Without this table nobody could find the root of a pinned version. It is written under the writer's lock only. An
/// entry is complete before its version is published, and is not changed while anyone may read it:
///
///     word  0 number (0: free), 1–4 root as a sealed ref, 5 pages of the file
struct VersionTable: Sendable {
  let segments: Segments
  private var memory: SharedMemory { segments.memory }

  private func word(_ entry: Int) -> Int {
    segments.start(entry / ControlPlace.entriesPerSegment) / 8
      + ControlPlace.entriesPerSegment * ControlPlace.readerBytes / 8
      + entry % ControlPlace.entriesPerSegment * (ControlPlace.versionBytes / 8)
  }

  /// The version of an entry; nil if the entry holds another version, or is not valid.
  func version(_ named: ControlBlock.Named) -> Version? {
    guard named.entry < segments.entryCount else { return nil }
    let word = word(named.entry)
    guard named.number > 0, memory[word: word] == named.number else { return nil }
    let pages = memory[word: word + 5]
    let version = Version(
      number: named.number,
      root: Ref(
        place: memory[word: word + 1], identity: memory[word: word + 2], check: memory[word: word + 3],
        check2: memory[word: word + 4]),
      pageCount: Int(clamping: min(pages, FileLimit.bytes / UInt64(FilePlace.page))))
    guard pages >= 2, version.root.isNull || version.root.isWellFormed else { return nil }
    // The entry of a version that nobody holds may be overwritten meanwhile. Overwriting begins with the number.
    return memory[word: word] == named.number ? version : nil
  }

  /// The entry of a version that is held.
  func find(_ number: UInt64) -> ControlBlock.Named? {
    for entry in 0..<segments.entryCount where memory[word: word(entry)] == number {
      return ControlBlock.Named(number: number, entry: entry)
    }
    return nil
  }

  /// The entry of a version, which is made if there is none.
  func entry(of version: Version, holders: [UInt64]) throws(StorageError) -> ControlBlock.Named {
    if let found = find(version.number) { return found }
    return try add(version, holders: holders)
  }

  /// Writes a version into an entry that belongs to none of `holders`, which are ascending.
  ///
  /// - Throws: `.limitExceeded(.readers)`; `.system` if the table can't grow.
  func add(_ version: Version, holders: [UInt64]) throws(StorageError) -> ControlBlock.Named {
    let count = segments.entryCount
    // The entries of recent versions follow each other, so the first free one after the last is soon found.
    let start = Int(version.number % UInt64(count))
    for step in 0..<count {
      let entry = (start + step) % count
      let number = memory[word: word(entry)]
      if number == 0 || holders.binarySearch(number) == nil { return write(version, entry) }
    }
    try segments.add(to: segments.count)
    return write(version, count)
  }

  private func write(_ version: Version, _ entry: Int) -> ControlBlock.Named {
    let word = word(entry)
    memory[word: word] = 0
    memory[word: word + 1] = version.root.place
    memory[word: word + 2] = version.root.identity
    memory[word: word + 3] = version.root.check
    memory[word: word + 4] = version.root.check2
    memory[word: word + 5] = UInt64(version.pageCount)
    memory[word: word] = version.number
    return ControlBlock.Named(number: version.number, entry: entry)
  }

  /// Forgets all versions. The caller rebuilds the block and must be alone.
  func clear() { for entry in 0..<segments.entryCount { memory.clear(word: word(entry)) } }
}
