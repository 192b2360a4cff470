import Foundation
import RealmStorage
import RealmTestSupport

/// The folder beside the file is removed while no process has the file open, which does no harm, and while a process
/// has it open. That process then writes no more, reports the reason, and reads nothing wrong. A process that opens the
/// file afterwards is refused or works safely.
struct Management {
  let part: Part

  func run() throws {
    for number in 0..<(part.isQuick ? 4 : 40) {
      try withScenes { scene in
        try part.state("encrypted \(scene.isEncrypted), between opens, \(number)") {
          var generator = part.generator(number)
          try removeBetweenOpens(scene, &generator)
        }
      }
    }
    for loss in Loss.allCases {
      try withScenes { scene in
        try part.state("encrypted \(scene.isEncrypted), while open, \(loss)") { try remove(scene, loss) }
      }
    }
  }

  private func removeBetweenOpens(_ scene: Scene, _ generator: inout SeededGenerator) throws {
    for _ in 0..<3 {
      let writer = try scene.spawn(.write, slots: 0..<2, seed: generator.next() >> 1)
      _ = try writer.line()
      Thread.sleep(forTimeInterval: Double(generator.below(30)) / 1000)
      if generator.chance(50) {
        try writer.crash()
      } else {
        writer.tell("stop")
        try writer.finish()
      }
      try FileManager.default.removeItem(atPath: scene.path + ".management")
      let database = try scene.open()
      try Scene.check(scene.verify(database, slots: 0..<2))
      database.close()
    }
  }

  // MARK: - While it is open

  private enum Loss: CaseIterable {
    case folder, control, replaced

    func happen(_ control: String) throws {
      let files = FileManager.default
      switch self {
      case .folder: try files.removeItem(atPath: (control as NSString).deletingLastPathComponent)
      case .control: try files.removeItem(atPath: control)
      case .replaced:
        try files.copyItem(atPath: control, toPath: control + ".copy")
        guard rename(control + ".copy", control) == 0 else { throw Violation("no other file at \(control)") }
      }
    }
  }

  private func remove(_ scene: Scene, _ loss: Loss) throws {
    let first = try scene.spawn(.obey)
    try first.succeed(.open)
    for _ in 0..<20 { try first.succeed(.write) }
    let pinned = try first.succeed(.pin)[0]
    let before = try first.succeed(.again)
    for _ in 0..<20 { try first.succeed(.write) }
    let newest = try first.succeed(.look)
    try loss.happen(scene.control)
    try first.expect(ErrorName.controlReplaced, at: .begin)
    try first.expect(ErrorName.controlReplaced, at: .write)
    try expect(first.follow(.look), newest, "the newest version")
    // A process that opens the file now does not know the pins of the first process.
    let second = try scene.spawn(.obey)
    if case .done = try second.follow(.open) {
      for _ in 0..<100 { if case .refused = try second.follow(.write) { break } }
      // A servant that finds neither a sound version nor an error ends, and the missing answer is noticed.
      _ = try second.follow(.look)
    }
    try expect(first.follow(.again), before, "the snapshot of version \(pinned)")
    _ = try first.follow(.look)
    try first.succeed(.close)
    _ = try second.follow(.close)
    // After both processes have closed the file, everything works as usual.
    try first.succeed(.open)
    try first.succeed(.write)
    try first.succeed(.look)
    try first.succeed(.close)
    let database = try scene.open()
    try Scene.check(try database.snapshot())
    database.close()
  }

  /// Checks that an answer is an error or equals what was read before.
  private func expect(_ answer: Child.Answer, _ known: [UInt64], _ what: String) throws {
    if case .done(let found) = answer, found != known { throw Violation("\(what) reads differently") }
  }
}
