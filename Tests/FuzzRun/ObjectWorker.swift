import Foundation
import RealmStorage
@_spi(Testing) import RealmSwift
import Synchronization
import RealmTestSupport

/// The process that uses damaged realms of objects, state by state. It reports each state before it begins, and ends if
/// a state stops the program.
struct ObjectWorker {
  /// The path of the undamaged file.
  let path: String
  let first: Int
  let seed: UInt64
  let isEncrypted: Bool
  let isQuick: Bool

  /// The beginnings of the messages with which a damaged file may stop a program.
  private static let messages = ["Unreadable", "Unwritable"]
  private static let current = Atomic<Int>(0)

  func run() throws {
    let key: [UInt8]? = isEncrypted ? Keys.first : nil
    guard let sample = bytes(ofFile: path) else { throw Violation("there is no sample") }
    let expected = try copy(sample) { ObjectSample.content(try realm($0, key)) }
    let list = Damage.list(sample, isEncrypted: isEncrypted, seed: seed, isQuick: isQuick)
    _setProgrammerErrorHandler { name, reason in
      let isTold = Self.messages.contains { name.hasPrefix($0) }
      Self.tell(
        isTold ? "stopped \(Self.current.load(ordering: .relaxed))" : "wrong: it stops by \(name): \(reason)")
      _exit(0)
    }
    for (number, damage) in list.enumerated().dropFirst(first) {
      Self.current.store(number, ordering: .relaxed)
      Self.tell("state \(number): \(damage)")
      Alarm.shared.begin("\(damage), seed \(seed)")
      try copy(damage.apply(to: sample, seed: seed)) { try use($0, key, damage, expected) }
      Alarm.shared.end()
    }
    Self.tell("finished \(list.count)")
  }

  private func use(_ path: String, _ key: [UInt8]?, _ damage: Damage, _ expected: [String]) throws {
    do {
      let realm = try realm(path, key)
      let content = ObjectSample.content(realm)
      guard !damage.keepsContent || content == expected else { throw Violation("other content is read") }
      try ObjectSample.change(realm)
    } catch let violation as Violation {
      if damage.keepsContent { Self.tell("wrong: \(violation.what)") }
    } catch is Realm.Error {
    } catch {
      Self.tell("wrong: an error of another type: \(error)")
    }
  }

  private func realm(_ path: String, _ key: [UInt8]?) throws -> Realm {
    try Realm(configuration: ObjectSample.configuration(path, key))
  }

  /// Makes a copy beside the sample, so that files that a stopped process leaves are removed with the sample.
  private func copy<Result>(_ bytes: [UInt8], _ body: (String) throws -> Result) throws -> Result {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
      .appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("damaged.realm")
    try Data(bytes).write(to: file)
    return try body(file.path)
  }

  /// Prints a line and flushes it at once, because a trap may come next.
  private static func tell(_ line: String) {
    print(line)
    fflush(nil)
  }
}
