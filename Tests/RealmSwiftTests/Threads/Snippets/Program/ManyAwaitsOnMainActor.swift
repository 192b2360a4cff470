// Prints: 1000 changes, 1000 names, frozen 0
import Foundation
import RealmSwift

// On Linux the main actor leaves the main thread at the first await.
@main struct Program {
  static func main() async throws {
    let realm = try await Realm(configuration: memory())
    let ada = Person(1, "0")
    try realm.write { realm.add(ada) }
    let frozen = ada.freeze()
    var names = 0
    for round in 1...1_000 {
      try await realm.asyncWrite { ada.name = "\(round)" }
      await Task.yield()
      if ada.name == "\(round)" { names += 1 }
    }
    print("\(ada.name) changes, \(names) names, frozen \(frozen.name)")
  }
}
