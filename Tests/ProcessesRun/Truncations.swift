import Foundation
import RealmStorage
import RealmTestSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// One process cuts the file that another process has open. The other process reports it at its next snapshot and
/// transaction, and reads on if nothing that it needs is gone.
struct Truncations {
  let part: Part

  func run() throws {
    for number in 0..<(part.isQuick ? 20 : 200) {
      var generator = part.generator(number)
      try withScene(isEncrypted: number % 2 == 1) { scene in
        try part.state("cut \(number)") { try cut(scene, number, &generator) }
      }
    }
  }

  private func cut(_ scene: Scene, _ number: Int, _ generator: inout SeededGenerator) throws {
    let victim = try scene.spawn(.obey)
    try victim.succeed(.open)
    for _ in 0...generator.below(20) { try victim.succeed(.write) }
    let before = try victim.succeed(.look)
    let needed = Int(try victim.succeed(.pin)[1])
    try victim.succeed(.release)
    let length = length(number, needed: needed, &generator)
    guard truncate(scene.path, off_t(length)) == 0 else {
      throw Violation("can't cut the file: error \(errno)")
    }
    let other = try scene.spawn(.obey)
    guard length < needed else {
      // In this case the file may even have become longer.
      guard try victim.succeed(.look) == before else {
        throw Violation("a cut of nothing changed the content")
      }
      try victim.succeed(.write)
      try other.succeed(.open)
      try other.succeed(.write)
      return
    }
    try victim.expect(ErrorName.truncated, at: .look)
    try victim.expect(ErrorName.truncated, at: .begin)
    try victim.expect(ErrorName.truncated, at: .write)
    if case .done = try other.follow(.open) {
      // The older meta page may name a version that is whole, but no process may go on from it while the victim has the
      // file open.
      throw Violation("\(length) bytes of \(needed) open as if nothing were missing")
    }
    try victim.succeed(.close)
  }

  private func length(_ number: Int, needed: Int, _ generator: inout SeededGenerator) -> Int {
    switch number % 8 {
    case 0: 0
    case 1: 1 + generator.below(8191)
    case 2: 8192
    case 3: needed - 4096
    case 4: needed - 1
    case 5: needed
    case 6: needed + generator.below(100_000)
    default: generator.below(needed)
    }
  }
}
