import Foundation

/// Measures the nodes that a commit changes if its rows have random keys.
struct ScatterBounds {
  let count: Int
  let folder: String

  /// The approximate size of a leaf of the index of such keys.
  private static let node = 2 << 10
  private static let nodesPerCommit = 10_000

  func all(_ rounds: Int) throws -> [Bound] {
    // The index has ten times as many rows, and each entry takes about 30 bytes.
    let bytes = max(count * 10 * 30, 4 * Self.nodesPerCommit * Self.node)
    let path = folder + "/scattered"
    defer { unlink(path) }
    try BoundFile.make(path, bytes: bytes)
    let nodes = "nodes of 2 KiB from all over a file of \(bytes >> 20) MiB"
    return [
      try Bound(
        "F2", "\(Self.nodesPerCommit) \(nodes), copied, summed, written, and flushed", "ns/KiB",
        rounds: rounds
      ) {
        try commit(path, bytes)
      }
    ]
  }

  private func commit(_ path: String, _ bytes: Int) throws -> Double {
    try withMap(path, bytes) { descriptor, map in
      var random = SplitMix64(seed: 2)
      let nodes = bytes / Self.node
      let length = Self.nodesPerCommit * Self.node
      var content = [UInt8](repeating: 1, count: length)
      // The nodes are copied in the order of their keys, which is not the order of their places.
      let sources = (0..<Self.nodesPerCommit).map { _ in Self.node * random.next(below: nodes) }
      let start = FileShape.page * random.next(below: (bytes - length) / FileShape.page)
      return try Measure.seconds {
        content.withUnsafeMutableBytes { content in
          for (index, source) in sources.enumerated() {
            let part = UnsafeMutableRawBufferPointer(
              rebasing: content[index * Self.node..<(index + 1) * Self.node])
            part.copyMemory(from: UnsafeRawBufferPointer(start: map + source, count: part.count))
            var sum: UInt64 = 0
            for word in part.bindMemory(to: UInt64.self) { sum &+= word }
            part.storeBytes(of: sum, as: UInt64.self)
          }
        }
        try BoundFile.write(content, to: descriptor, path, at: start)
        try Measure.flush(descriptor, path)
      } * 1e9 / Double(length >> 10)
    }
  }

  private func withMap(
    _ path: String, _ bytes: Int, _ body: (Int32, UnsafeRawPointer) throws -> Double
  ) throws -> Double {
    let descriptor = open(path, O_RDWR)
    guard descriptor >= 0 else { throw BenchmarkError("\(path) can't be opened") }
    defer { _ = Foundation.close(descriptor) }
    guard let map = mmap(nil, bytes, PROT_READ, MAP_SHARED, descriptor, 0), map != MAP_FAILED else {
      throw BenchmarkError("\(path) can't be mapped")
    }
    defer { munmap(map, bytes) }
    // Reading the pages makes them known to the process, like those of a file in use.
    for place in stride(from: 0, to: bytes, by: FileShape.page)
    where map.load(fromByteOffset: place, as: UInt8.self) == 77 {
      throw BenchmarkError("\(path) is not what was written")
    }
    return try body(descriptor, UnsafeRawPointer(map))
  }
}
