import RealmStorage
import RealmTestSupport

/// A changed file of device sync is used by its owner. What the owner reads and sends is the same as without the
/// change, or there is an error.
struct SyncedFiles {
  let sample: SyncedSample

  func run(_ part: Part) throws {
    let storage = try ByteStorage()
    try flip(storage, part)
    try cut(storage, part)
    // To forge an encrypted file one needs its key, and with the key one can write anything.
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

  /// The offsets of the bytes of the meta pages and of the nodes, and of each 97th of the other bytes, because these are
  /// like their neighbours. A quick run uses only some of these offsets.
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

  /// The lengths one byte below and above the ends of pages, and some random lengths.
  private func lengths(_ part: Part) -> [Int] {
    var generator = part.generator(sample.bytes.count + 1)
    var lengths = (0..<(part.isQuick ? 40 : 3_000)).map { _ in generator.below(sample.bytes.count) }
    for end in stride(from: 0, through: sample.bytes.count, by: FilePlace.page) {
      lengths += [end - 1, end, end + 1].filter { sample.bytes.indices.contains($0) }
    }
    return lengths
  }
}
