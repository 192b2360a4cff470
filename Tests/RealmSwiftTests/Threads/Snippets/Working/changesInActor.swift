// Answers: 0 1
import Foundation
import RealmSwift

private actor Watcher {
  private var realm: Realm?
  private var counts: [Int] = []

  func open() async throws { realm = try await Realm(configuration: memory()) }

  func watch() async {
    guard let realm else { return }
    for await change in realm.objects(Person.self).changes() {
      switch change {
      case .initial(let people): counts.append(people.count)
      case .update(let people, _, _, _): counts.append(people.count)
      case .error: return
      }
      if counts.count == 2 { return }
    }
  }

  func add() async throws {
    while counts.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
    try await realm?.asyncWrite { _ = realm?.create(Person.self, value: [1, "Ada"]) }
  }

  var text: String { counts.map { "\($0)" }.joined(separator: " ") }
}

func changesInActor() async throws -> String {
  let watcher = Watcher()
  try await watcher.open()
  async let watching: Void = watcher.watch()
  try await watcher.add()
  await watching
  return await watcher.text
}
