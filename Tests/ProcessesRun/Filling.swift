import Foundation
import RealmStorage
import RealmTestSupport

/// Processes that open the same empty file at once, some of which are killed meanwhile. The file stays empty or becomes
/// a database exactly once, and no process loses a commit.
struct Filling {
  let part: Part
  private static let openers = 3

  func run() throws {
    for number in 0..<(part.isQuick ? 10 : 200) {
      try withScene(isEncrypted: number % 2 == 1) { scene in
        try part.state("filled \(number)") {
          var generator = part.generator(number)
          try fill(scene, &generator)
        }
      }
    }
  }

  private func fill(_ scene: Scene, _ generator: inout SeededGenerator) throws {
    let mode = 0o600
    guard
      FileManager.default.createFile(
        atPath: scene.path, contents: nil, attributes: [.posixPermissions: mode])
    else { throw Violation("no empty file") }
    let children = try (0..<Self.openers).map { _ in try scene.spawn(.obey) }
    // Each process has started when it has answered this order.
    for child in children { try child.succeed(.close) }
    for child in children { child.tell(Servant.Order.open.rawValue) }
    usleep(UInt32(generator.below(4000)))
    let killed = generator.below(Self.openers)
    for child in children[..<killed] { try child.crash() }
    try expectEmptyOrWhole(scene)
    for child in children[killed...] {
      guard case .done = try child.answer() else {
        throw Violation("process \(child.process) can't open the file")
      }
      try child.succeed(.write)
    }
    for child in children[killed...] { try child.succeed(.close) }
    let found = try FileManager.default.attributesOfItem(atPath: scene.path)[.posixPermissions] as? Int
    guard found == mode else { throw Violation("the mode of the file has become \(found ?? 0)") }
    let database = try scene.open()
    let snapshot = try database.snapshot()
    try Scene.check(snapshot)
    guard try Ledger.verify(snapshot)[0] == Self.openers - killed else {
      throw Violation("what was committed to the file is lost")
    }
    database.close()
  }

  private func expectEmptyOrWhole(_ scene: Scene) throws {
    let size = try FileManager.default.attributesOfItem(atPath: scene.path)[.size] as? Int ?? 0
    guard size == 0 || size >= 8192 else { throw Violation("wrong: the file has \(size) bytes") }
  }
}
