/// The part of the shared memory that grows: segments of reader and version entries. Segments are added, and never
/// moved.
struct Segments: Sendable {
  let memory: SharedMemory
  let control: ControlLock
  let path: String
  private static let countWord = 13

  /// The number of segments, at least one. An impossible number is not believed, because it comes from a block that is
  /// not ours.
  var count: Int { Int(min(max(memory[word: Self.countWord], 1), UInt64(ControlPlace.segmentCount))) }
  var entryCount: Int { count * ControlPlace.entriesPerSegment }

  func start(_ segment: Int) -> Int { ControlPlace.segments + segment * ControlPlace.segmentBytes }

  /// Makes sure that the memory of all segments may be accessed.
  func reserve() throws(StorageError) { try memory.reserve(start(count)) }

  /// Adds a segment to `seen` segments, unless somebody else has added it already.
  ///
  /// - Throws: `.limitExceeded(.readers)`; `.system` if the disk is full.
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
