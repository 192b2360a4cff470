import Foundation
import RealmSwift

/// Owners of lists as classes.
final class NumberOwnerObject: Object {
  @Persisted var number: Int
  @Persisted var name: String
  @Persisted var elements: List<Int>
}

final class LinkOwnerObject: Object {
  @Persisted var number: Int
  @Persisted var name: String
  @Persisted var elements: List<ItemObject>
}

final class TextOwnerObject: Object {
  @Persisted var number: Int
  @Persisted var name: String
  @Persisted var elements: List<String>
}

/// The class of the objects that lists of links contain.
final class ItemObject: Object {
  @Persisted var number: Int
  @Persisted(originProperty: "elements") var owners: LinkingObjects<LinkOwnerObject>
}

/// Lists in this project's object layer, which has durable commits only.
final class ObjectsLists: ListFile {
  private let lists: Lists
  private var opened: Realm?

  init(_ lists: Lists, folder: String, isEncrypted: Bool) throws {
    self.lists = lists
    opened = try Realm(
      configuration: Realm.Configuration(
        fileURL: URL(fileURLWithPath: folder + "/lists.realm"),
        encryptionKey: isEncrypted ? Data((0..<64).map { UInt8($0) }) : nil,
        objectTypes: [
          NumberOwnerObject.self, LinkOwnerObject.self, TextOwnerObject.self, ItemObject.self,
        ]))
  }

  private func realm() throws -> Realm {
    guard let opened else { throw BenchmarkError("the realm is closed") }
    return opened
  }

  private func numbers(of owner: Int) throws -> List<Int> {
    try realm().objects(NumberOwnerObject.self)[owner].elements
  }

  private func links(of owner: Int) throws -> List<ItemObject> {
    try realm().objects(LinkOwnerObject.self)[owner].elements
  }

  // MARK: - Filling

  func fill() throws {
    let realm = try realm()
    try realm.write {
      let items = (0..<lists.items).map { number in
        let item = ItemObject()
        item.number = number
        realm.add(item)
        return item
      }
      for owner in 0..<lists.owners { realm.add(object(owner, items)) }
    }
  }

  private func object(_ owner: Int, _ items: [ItemObject]) -> Object {
    switch lists.kind {
    case .numbers:
      let object = NumberOwnerObject()
      (object.number, object.name) = (owner, lists.name(of: owner))
      object.elements.append(objectsIn: lists.elements(of: owner))
      return object
    case .links:
      let object = LinkOwnerObject()
      (object.number, object.name) = (owner, lists.name(of: owner))
      object.elements.append(objectsIn: lists.elements(of: owner).map { items[$0] })
      return object
    case .texts:
      let object = TextOwnerObject()
      (object.number, object.name) = (owner, lists.name(of: owner))
      object.elements.append(objectsIn: lists.texts(of: owner))
      return object
    }
  }

  func append(together elements: [Int], toListOf owner: Int) throws {
    let realm = try realm()
    guard lists.kind == .numbers else {
      let (links, items) = (try links(of: owner), realm.objects(ItemObject.self))
      return try realm.write { links.append(objectsIn: elements.lazy.map { items[$0] }) }
    }
    let numbers = try numbers(of: owner)
    try realm.write { numbers.append(objectsIn: elements) }
  }

  func append(oneByOne elements: [Int], toListOf owner: Int) throws {
    let numbers = try numbers(of: owner)
    try realm().write { for element in elements { numbers.append(element) } }
  }

  // MARK: - Small commits

  var hasRelaxedCommits: Bool { false }
  var promise = Promise.durable
  var written: WrittenBytes? { nil }

  func setNumber(_ number: Int64, of owner: Int) throws {
    let owner = try realm().objects(NumberOwnerObject.self)[owner]
    try realm().write { owner.number = Int(number) }
  }

  func append(_ element: Int) throws { try append(oneByOne: [element], toListOf: lists.long) }

  func insert(_ element: Int, at place: Int) throws {
    let numbers = try numbers(of: lists.long)
    try realm().write { numbers.insert(element, at: place) }
  }

  func remove(at place: Int) throws {
    let numbers = try numbers(of: lists.long)
    try realm().write { numbers.remove(at: place) }
  }

  // MARK: - Reading

  var findsPlaces: Bool { true }

  func read(at places: [Int]) throws -> Answer {
    let numbers = try numbers(of: lists.long)
    var answer = Answer()
    for place in places { answer.add(Int64(numbers[place])) }
    return answer
  }

  func iterate() throws -> Answer {
    var answer = Answer()
    for number in try numbers(of: lists.long) { answer.add(Int64(number)) }
    return answer
  }

  func iterateAll() throws -> Answer {
    var answer = Answer()
    for owner in try realm().objects(TextOwnerObject.self) {
      for text in owner.elements { answer.add(text) }
    }
    return answer
  }

  func content() throws -> Answer {
    var hash = RowHash()
    if lists.kind == .links {
      for item in try links(of: lists.long) { hash.add(Int64(item.number)) }
    } else {
      for number in try numbers(of: lists.long) { hash.add(Int64(number)) }
    }
    var answer = Answer()
    answer.add(hash)
    return answer
  }

  func countLinks() throws -> Int {
    try realm().objects(ItemObject.self).reduce(0) { $0 + $1.owners.count }
  }

  // MARK: - Removing many

  func removeFirst(times: Int) throws {
    let numbers = try numbers(of: lists.long)
    try realm().write { for _ in 0..<times { numbers.remove(at: 0) } }
  }

  func delete(items: [Int], isTogether: Bool) throws -> Double {
    let realm = try realm()
    // The items may have moved to other places after other items were deleted.
    let wanted = Set(items)
    let objects = Array(realm.objects(ItemObject.self)).filter { wanted.contains($0.number) }
    return try Measure.seconds {
      try realm.write {
        if isTogether {
          realm.delete(objects)
        } else {
          for object in objects { realm.delete(object) }
        }
      }
    }
  }

  func close() { opened = nil }
}
