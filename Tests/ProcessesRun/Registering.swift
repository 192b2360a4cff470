import Foundation
import RealmStorage
import RealmTestSupport

/// Readers of several processes take and give up snapshots while a writer reuses space as soon as it may. No reader
/// finds an overwritten page, and the pins of a killed reader do not stay.
struct Registering {
  let part: Part

  private var seconds: Double { part.isQuick ? 3 : 30 }
  private static let readers = 3

  func run() throws {
    var (snapshots, commits) = (0, 0)
    try withScenes { scene in
      let workers = try start(scene)
      let rounds = Int(seconds)
      for round in 0..<rounds {
        try part.state("encrypted \(scene.isEncrypted), second \(round)") {
          try workers.readers.replaceOne(at: round, scene)
          Thread.sleep(forTimeInterval: 1)
          // Two handles of one process behave like two processes.
          let (database, another) = try (scene.open(), scene.open())
          for handle in [database, another, database] { try scene.verify(handle, slots: 0..<1) }
          another.close()
          try database.beginWrite().cancel()
          database.close()
        }
      }
      try part.state("encrypted \(scene.isEncrypted), the end") {
        snapshots += try workers.readers.stop()
        workers.writer.tell("stop")
        try workers.writer.finish()
        let database = try scene.open()
        try scene.verifyEnd(database, slots: 0..<1)
        try database.pinsAreGone()
        database.close()
        try checkSize(scene)
      }
      commits += try scene.acknowledged(0..<1)
    }
    part.figures = [("snapshots", snapshots), ("commits", commits)]
    guard snapshots >= 1000, commits >= 100 else {
      throw Violation("readers miss the writer: \(part.summary)")
    }
  }

  private func start(_ scene: Scene) throws -> (writer: Child, readers: ReaderProcesses) {
    let writer = try scene.spawn(.recycle, slots: 0..<1, seed: part.seed)
    _ = try writer.line()
    return (writer, try ReaderProcesses(scene, count: Self.readers))
  }

  /// Checks the size of the file. The content has about 2 MiB, and what readers held for moments may have cost a few
  /// times that.
  private func checkSize(_ scene: Scene) throws {
    let size = try FileManager.default.attributesOfItem(atPath: scene.path)[.size] as? Int ?? 0
    guard size < 128 << 20 else { throw Violation("the file has grown to \(size) bytes") }
  }
}

private final class ReaderProcesses {
  private var children: [Child] = []

  init(_ scene: Scene, count: Int) throws {
    for number in 0..<count { children.append(try scene.spawn(.read, seed: UInt64(number))) }
    for child in children { _ = try child.line() }
  }

  /// Kills one reader, and waits until its successor reads.
  func replaceOne(at round: Int, _ scene: Scene) throws {
    let place = round % children.count
    try children[place].crash()
    children[place] = try scene.spawn(.read, seed: UInt64(100 + round))
    _ = try children[place].line()
  }

  /// Stops the readers. Returns the number of snapshots that they took.
  func stop() throws -> Int {
    var snapshots = 0
    for child in children { child.tell("stop") }
    for child in children {
      for _ in 0..<2 { snapshots += Int(try child.line()) ?? 0 }
      try child.finish()
    }
    return snapshots
  }
}
