import RealmStorage
import RealmTestSupport

/// Changes each byte of a file, one at a time.
///
/// The byte can lie in a meta page, for which the other meta page can be used; in a node of the newest version, whose
/// checksum shows the change; or in a place that the newest version does not need.
struct Flips {
  let sample: Sample

  func run(_ part: Part) throws {
    let storage = try ByteStorage()
    let reached = sample.reached
    var bytes = sample.bytes
    for offset in offsets(part) {
      var generator = part.generator(offset)
      let difference = UInt8(1 + generator.below(255))
      bytes[offset] ^= difference
      try part.state("offset \(offset) changed by \(difference)") {
        storage.fill(bytes)
        try judge(Probe.look(at: storage, key: sample.key), isReached: reached[offset], isMeta: offset < 8192)
      }
      bytes[offset] ^= difference
    }
  }

  private func judge(_ outcome: Probe.Outcome, isReached: Bool, isMeta: Bool) throws {
    switch outcome {
    case .content(let fingerprint):
      guard sample.named.contains(fingerprint) else {
        throw Violation("wrong: content that no meta page names")
      }
      let isNewest = fingerprint == sample.newest
      guard !(isReached && isNewest) else { throw Violation("wrong: a changed node goes unnoticed") }
      guard isReached || isMeta || isNewest else { throw Violation("lost: an older version for no reason") }
    case .refused(let error), .unreadable(let error):
      guard isReached else { throw Violation("lost: nothing is missing, but \(error)") }
    }
  }

  // MARK: - Which bytes

  /// The offsets of all bytes. In a quick run these are every fifth byte from a random phase, and fewer in parts where
  /// one byte is like the next.
  private func offsets(_ part: Part) -> [Int] {
    guard part.isQuick else { return Array(sample.bytes.indices) }
    var generator = part.generator(sample.bytes.count)
    let phase = generator.below(5 * 97)
    let isBulk = bulkUnits
    return sample.bytes.indices.filter { offset in
      let step = isBulk[offset / Ref.unit] ? 97 : 5
      return offset % step == phase % step
    }
  }

  /// For each unit, whether it lies in a chunk of a long value or has only zeros.
  private var bulkUnits: [Bool] {
    var isBulk: [Bool] = []
    for start in stride(from: 0, to: sample.bytes.count, by: Ref.unit) {
      let unit = sample.bytes[start..<min(start + Ref.unit, sample.bytes.count)]
      isBulk.append(unit.allSatisfy { $0 == 0 })
    }
    for node in sample.nodes where node.kind == .chunk {
      let first = Int(node.unit)
      let last = first + node.length / Ref.unit
      for unit in first..<last where unit > first + 1 { isBulk[unit] = true }
    }
    return isBulk
  }
}
