import RealmStorage
import RealmTestSupport

/// A file of device sync that something happened to, used as who owns it does: what it reads and says is what
/// it would have been, or there is an error.
struct SyncedFiles {
  let sample: SyncedSample

  func run(_ part: Part) throws {
    let storage = try ByteStorage()
    try flip(storage, part)
    try cut(storage, part)
    // Whoever forges an encrypted file needs the key, and may do anything then.
    if sample.key == nil { try SyncedForgeries(sample: sample).run(storage, part) }
  }

  // MARK: - Changed bytes

  private func flip(_ storage: ByteStorage, _ part: Part) throws {
    var bytes = sample.bytes
    for offset in offsets(part) {
      var generator = part.generator(offset)
      let difference = UInt8(1 + generator.below(255))
      bytes[offset] ^= difference
      try part.state("offset \(offset) changed by \(difference)") {
        storage.fill(bytes)
        try judge(sample.use.look(at: storage, key: sample.key), isReached: sample.reached[offset])
      }
      bytes[offset] ^= difference
    }
  }

  private func judge(_ outcome: SyncedUse.Outcome, isReached: Bool) throws {
    switch outcome {
    case .content(let fingerprint, let isSound):
      guard fingerprint == sample.untouched else {
        throw Violation("wrong: something else is read or said, and no error tells of it")
      }
      guard !(isReached && isSound) else { throw Violation("wrong: a changed node goes unnoticed") }
    case .refused(let error):
      guard isReached else { throw Violation("lost: nothing is missing, but \(error)") }
    case .unreadable(let error, let isFound):
      guard isReached else { throw Violation("lost: nothing is missing, but \(error)") }
      guard isFound else { throw Violation("the check finds nothing, but its use throws \(error)") }
    }
  }

  /// The bytes of the meta pages and of the nodes; of others one in 97, since one is like the next there.
  /// Quick: a sample of them.
  private func offsets(_ part: Part) -> [Int] {
    let all = sample.bytes.indices.filter { offset in
      offset < 2 * FilePlace.page || sample.reached[offset] || offset % 97 == 0
    }
    guard part.isQuick else { return all }
    var generator = part.generator(sample.bytes.count)
    let step = max(1, all.count / 600)
    return stride(from: generator.below(step), to: all.count, by: step).map { all[$0] }
  }

  // MARK: - Cut files

  private func cut(_ storage: ByteStorage, _ part: Part) throws {
    for length in lengths(part) {
      try part.state("length \(length)") {
        storage.fill(sample.bytes, length: length)
        let outcome = try sample.use.look(at: storage, key: sample.key)
        guard case .content(let fingerprint, _) = outcome, fingerprint != sample.untouched else { return }
        throw Violation("wrong: something else is read or said of a cut file, and no error tells of it")
      }
    }
  }

  /// The ends of pages with one byte more and less, and some lengths at random.
  private func lengths(_ part: Part) -> [Int] {
    var generator = part.generator(sample.bytes.count + 1)
    var lengths = (0..<(part.isQuick ? 40 : 3_000)).map { _ in generator.below(sample.bytes.count) }
    for end in stride(from: 0, through: sample.bytes.count, by: FilePlace.page) {
      lengths += [end - 1, end, end + 1].filter { sample.bytes.indices.contains($0) }
    }
    return lengths
  }
}
