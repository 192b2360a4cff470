import Foundation
import RealmSwift

/// The owner of a set and of a map.
final class LookupObject: Object {
  @Persisted var texts: MutableSet<String>
  @Persisted var numbers: Map<String, Int>
}

/// A set and a map in this project's object layer.
final class ObjectsLookups: LookupFile {
  private var opened: Realm?

  init(folder: String, isEncrypted: Bool) throws {
    opened = try Realm(
      configuration: Realm.Configuration(
        fileURL: URL(fileURLWithPath: folder + "/lookups.realm"),
        encryptionKey: isEncrypted ? Data((0..<64).map { UInt8($0) }) : nil,
        objectTypes: [LookupObject.self]))
  }

  private func owner() throws -> LookupObject {
    guard let owner = opened?.objects(LookupObject.self).first else {
      throw BenchmarkError("there is no owner of a set")
    }
    return owner
  }

  func fill(_ texts: [String]) throws {
    guard let realm = opened else { throw BenchmarkError("the realm is closed") }
    let object = LookupObject()
    object.texts.insert(objectsIn: texts)
    for (place, text) in texts.enumerated() { object.numbers[text] = place }
    try realm.write { realm.add(object) }
  }

  func count(of texts: [String]) throws -> Int {
    let set = try owner().texts
    return texts.reduce(0) { $0 + (set.contains($1) ? 1 : 0) }
  }

  func numbers(of texts: [String]) throws -> Answer {
    let map = try owner().numbers
    var answer = Answer()
    for text in texts {
      guard let number = map[text] else { throw BenchmarkError("the map has no \(text)") }
      answer.add(Int64(number))
    }
    return answer
  }

  func close() { opened = nil }
}
