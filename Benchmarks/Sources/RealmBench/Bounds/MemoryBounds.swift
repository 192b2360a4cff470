import Foundation

/// Measures memory: that of a mapped file as large as the file of Persons, and new memory.
struct MemoryBounds {
  let count: Int
  let folder: String

  func all(_ rounds: Int) throws -> [Bound] {
    let map = try MappedProbe(folder + "/mapped", bytes: count * FileShape.bytesPerPerson)
    let other = try MappedProbe(folder + "/other", bytes: count * FileShape.bytesPerPerson)
    let mebibytes = map.bytes >> 20
    return [
      Bound(
        "3", "a read at random of a mapped file of \(mebibytes) MiB, each telling the next", "ns",
        rounds: rounds
      ) { map.chase(1_000_000) },
      Bound("3, 3b", "the same, of addresses known before", "ns", rounds: rounds) { map.spread(1_000_000) },
    ]
      + [
        ("5", "heads, ages", [192, 448]), ("6", "heads, ages, active", [192, 448, 64]),
        ("11", "heads, ages, scores", [192, 448, 4096]),
        ("4", "heads, ages, scores, names", [192, 448, 4096, 6_656]),
      ].flatMap { workload, title, lengths in
        let part = "what a scan needs of each cluster there: \(title)"
        return [
          Bound(workload, part, "ms", rounds: rounds) { map.scan(lengths) },
          Bound(workload, part + ", after other work", "ms", rounds: rounds) {
            other.readAll()
            return map.scan(lengths)
          },
        ]
      } + [
        Bound("1, 13, 14", "as much new memory touched, and given back", "ms", rounds: rounds) {
          fresh(map.bytes)
        }
      ]
  }

  private func fresh(_ bytes: Int) -> Double {
    Measure.seconds {
      guard let memory = mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0),
        memory != MAP_FAILED
      else { return }
      for place in stride(from: 0, to: bytes, by: FileShape.page) {
        memory.storeBytes(of: 1, toByteOffset: place, as: UInt8.self)
      }
      munmap(memory, bytes)
    } * 1e3
  }
}

/// A mapped file in the page cache. Each of its cache lines has the number of another line.
final class MappedProbe {
  let bytes: Int
  let lines: Int
  private let map: UnsafeRawPointer

  init(_ path: String, bytes: Int) throws {
    lines = bytes / FileShape.line
    self.bytes = bytes
    var content = [UInt64](repeating: 0, count: bytes / 8)
    // The numbers make one cycle through all lines, in an order that is as good as random (Sattolo's algorithm).
    var order = (0..<UInt64(lines)).map { $0 }
    var random = SplitMix64(seed: 5)
    for index in stride(from: lines - 1, to: 0, by: -1) { order.swapAt(index, random.next(below: index)) }
    for (line, next) in order.enumerated() { content[line * FileShape.line / 8] = next }
    try BoundFile.write(content.withUnsafeBytes { Array($0) }, to: path)
    let descriptor = open(path, O_RDONLY)
    guard descriptor >= 0 else { throw BenchmarkError("\(path) can't be opened") }
    defer { _ = Foundation.close(descriptor) }
    guard let map = mmap(nil, bytes, PROT_READ, MAP_SHARED, descriptor, 0), map != MAP_FAILED else {
      throw BenchmarkError("\(path) can't be mapped")
    }
    self.map = UnsafeRawPointer(map)
  }

  deinit { munmap(UnsafeMutableRawPointer(mutating: map), bytes) }

  func next(_ line: Int) -> Int { map.load(fromByteOffset: line &* FileShape.line, as: Int.self) }

  func chase(_ reads: Int) -> Double {
    var line = 0
    let seconds = Measure.seconds { for _ in 0..<reads { line = next(line) } }
    precondition(line < lines)
    return seconds / Double(reads) * 1e9
  }

  func spread(_ reads: Int) -> Double {
    var random = SplitMix64(seed: 9)
    let places = (0..<reads).map { _ in random.next(below: lines) }
    var sum = 0
    let seconds = Measure.seconds { for place in places { sum &+= next(place) } }
    precondition(sum != 0)
    return seconds / Double(reads) * 1e9
  }

  private let cluster = FileShape.rowsPerCluster * FileShape.bytesPerPerson / FileShape.line * FileShape.line

  /// Reads the whole file, so that the processor's caches have parts of it.
  func readAll() { _ = scan([cluster]) }

  /// The time for adding up the bytes of some runs in each cluster, in milliseconds. The runs of a cluster are a few
  /// KiB apart.
  func scan(_ lengths: [Int]) -> Double {
    var sum = SIMD8<UInt64>()
    let seconds = Measure.seconds {
      for start in stride(from: 0, to: bytes - cluster, by: cluster) {
        var place = start
        for length in lengths {
          for offset in stride(from: place, to: place + length, by: FileShape.line) {
            sum &+= map.load(fromByteOffset: offset, as: SIMD8<UInt64>.self)
          }
          place += length + 2 * FileShape.page
        }
      }
    }
    precondition(sum != SIMD8())
    return seconds * 1e3
  }
}
