/// The part of the shared memory that grows: segments of reader and version entries, added and never moved.
struct Segments: Sendable {
  let memory: SharedMemory
  let control: ControlLock
  let path: String
  private static let countWord = 13

  /// At least one. A number that can't be is what a block holds that is not ours: it is not believed.
  var count: Int { Int(min(max(memory[word: Self.countWord], 1), UInt64(ControlPlace.segmentCount))) }
  var entryCount: Int { count * ControlPlace.entriesPerSegment }

  func start(_ segment: Int) -> Int { ControlPlace.segments + segment * ControlPlace.segmentBytes }

  /// Makes sure that what the count says may be touched.
  func reserve() throws(StorageError) { try memory.reserve(start(count)) }

  /// Adds one to `seen`, unless somebody else has.
  ///
  /// - Throws: `.limitExceeded(.readers)`; `.system` where the disk is full.
  func add(to seen: Int) throws(StorageError) {
    _ = try control.lock()
    defer { control.unlock() }
    guard count == seen else { return }
    guard seen < ControlPlace.segmentCount else { throw .limitExceeded(.readers, path: path) }
    try memory.reserve(start(seen + 1))
    for word in start(seen) / 8..<start(seen + 1) / 8 { memory[word: word] = 0 }
    memory[word: Self.countWord] = UInt64(seen + 1)
  }
}
