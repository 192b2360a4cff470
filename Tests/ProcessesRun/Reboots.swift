import Foundation
import RealmStorage
import RealmTestSupport

/// The control file is of another boot or of another file, or it is no control file, while no process has the file
/// open. The engine then ignores its content, and opens the file as its last writer left it.
struct Reboots {
  let part: Part

  private enum Change: CaseIterable {
    case boot, bootAndRest, otherFile, random, longer, short, empty, zeros, missing
  }

  func run() throws {
    var number = 0
    for round in 0..<(part.isQuick ? 1 : 10) {
      for change in Change.allCases {
        try withScenes { scene in
          for isKilled in [false, true] {
            let place = "encrypted \(scene.isEncrypted), killed \(isKilled), \(change), \(round)"
            try part.state(place) {
              var generator = part.generator(number)
              try leave(scene, isKilled: isKilled, &generator)
              try apply(change, to: scene, &generator)
              try reopen(scene)
            }
            number += 1
          }
        }
      }
    }
    try flipWords()
  }

  /// Runs a worker that commits and then is killed or ends normally.
  private func leave(_ scene: Scene, isKilled: Bool, _ generator: inout SeededGenerator) throws {
    let writer = try scene.spawn(.write, slots: 0..<2, seed: generator.next() >> 1)
    _ = try writer.line()
    try scene.wait(for: scene.acknowledged(0..<2) + 20, 0..<2, by: [writer])
    guard isKilled else {
      writer.tell("stop")
      return try writer.finish()
    }
    try writer.crash()
  }

  private func reopen(_ scene: Scene) throws {
    for _ in 0..<2 {
      let database = try scene.open()
      defer { database.close() }
      try Scene.check(scene.verify(database, slots: 0..<2))
      try database.write { try $0.tree("boots").set([1], for: Array("\($0.base.number)".utf8)) }
      try scene.verify(database, slots: 0..<2)
    }
  }

  // MARK: - Changes

  private func apply(_ change: Change, to scene: Scene, _ generator: inout SeededGenerator) throws {
    let path = scene.control
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    func replace(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(fileURLWithPath: path)) }
    switch change {
    case .boot: try replace(ofOtherBoot(bytes, &generator))
    case .bootAndRest:
      // The remaining bytes of the control file of an earlier boot may have any value.
      let changed = try ofOtherBoot(bytes, &generator)
      try replace(changed.map { generator.chance(10) ? UInt8(generator.below(256)) : $0 })
    case .otherFile:
      // A copy of the file replaces the file.
      try FileManager.default.copyItem(atPath: scene.path, toPath: scene.path + ".copy")
      guard rename(scene.path + ".copy", scene.path) == 0 else { throw Violation("no copy at \(scene.path)") }
    case .random: try replace(generator.bytes(bytes.count))
    case .longer: try replace(generator.bytes(bytes.count + 1 + generator.below(1 << 16)))
    case .short: try replace(Array(bytes.prefix(1 + generator.below(100))))
    case .empty: try replace([])
    case .zeros: try replace([UInt8](repeating: 0, count: bytes.count))
    case .missing: try FileManager.default.removeItem(atPath: path)
    }
  }

  private func ofOtherBoot(_ bytes: [UInt8], _ generator: inout SeededGenerator) throws -> [UInt8] {
    var (bytes, found) = (bytes, false)
    for word in [BootID.current.first, BootID.current.second] where word != 0 {
      let sought = (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
      for start in stride(from: 0, to: bytes.count - 7, by: 8) where Array(bytes[start..<start + 8]) == sought
      {
        bytes.replaceSubrange(start..<start + 8, with: generator.bytes(8))
        found = true
      }
    }
    guard found else { throw Violation("the control file does not name its boot") }
    return bytes
  }

  // MARK: - Words

  /// Changes one word of a control file of this boot. The changed file may claim a failed sync, so an error or an older
  /// version is right, but wrong content is not.
  private func flipWords() throws {
    for number in 0..<(part.isQuick ? 40 : 1000) {
      var generator = part.generator(1_000_000 + number)
      try withScene(isEncrypted: number % 2 == 1) { scene in
        try part.state("word \(number)") { try flipWord(scene, &generator) }
      }
    }
  }

  private func flipWord(_ scene: Scene, _ generator: inout SeededGenerator) throws {
    let database = try scene.open()
    for count in 1...3 { try Self.write(database, count, count == 2 ? .full : .relaxed, &generator) }
    database.close()
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: scene.control)))
    let start = 8 * generator.below(generator.chance(80) ? 64 : bytes.count / 8)
    let word = generator.chance(50) ? generator.next() : UInt64(generator.below(4))
    for index in 0..<8 { bytes[start + index] = UInt8(truncatingIfNeeded: word >> (8 * index)) }
    try Data(bytes).write(to: URL(fileURLWithPath: scene.control))
    do {
      let again = try scene.open()
      defer { again.close() }
      let counts = try Ledger.verify(try again.snapshot())
      guard counts[0] ?? 0 <= 3 else { throw Violation("\(counts) commits of 3") }
      try Self.write(again, (counts[0] ?? 0) + 1, .full, &generator)
      try Scene.check(again.snapshot())
    } catch is StorageError {}
  }

  private static func write(
    _ database: Database, _ count: Int, _ durability: Durability, _ generator: inout SeededGenerator
  ) throws {
    try database.write(durability) { transaction in
      try Ledger.prepare(transaction)
      try Ledger.write(transaction, slot: 0, number: count, size: .small, &generator)
    }
  }
}
