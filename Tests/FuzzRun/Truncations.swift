import RealmStorage
import RealmTestSupport

/// Truncates a file to each length.
struct Truncations {
  let sample: Sample

  func run(_ part: Part) throws {
    let storage = try ByteStorage()
    for length in lengths(part) {
      try part.state("length \(length)") {
        storage.fill(sample.bytes, length: length)
        try judge(Probe.look(at: storage, key: sample.key))
      }
    }
    // These states use a file on the disk, whose mapping has no memory past its end.
    for length in edges {
      try part.state("length \(length) of a file") {
        try withFile(sample.bytes[..<length]) { path in
          try judge(Probe.look(atFile: path, key: sample.key))
        }
      }
    }
  }

  private func judge(_ outcome: Probe.Outcome) throws {
    guard case .content(let fingerprint) = outcome else { return }
    guard sample.named.contains(fingerprint) else {
      throw Violation("wrong: content that no meta page names")
    }
  }

  /// All lengths. In a quick run they are the ends of pages and some random lengths.
  private func lengths(_ part: Part) -> [Int] {
    guard part.isQuick else { return Array(sample.bytes.indices) }
    var generator = part.generator(0)
    return edges + (0..<300).map { _ in generator.below(sample.bytes.count) }
  }

  /// The lengths at the ends of pages, and one byte more and less.
  private var edges: [Int] {
    var edges: [Int] = []
    for end in stride(from: 0, through: sample.bytes.count, by: FilePlace.page) {
      for length in [end - 1, end, end + 1] where sample.bytes.indices.contains(length) {
        edges.append(length)
      }
    }
    return edges
  }
}
