import Dispatch
import Foundation
import RealmSwift
import Testing

@Suite struct ObserverLifeTests {
  private func memory() throws -> QueueRealm {
    try QueueRealm(
      Realm.Configuration(inMemoryIdentifier: "life \(UUID())", objectTypes: [Person.self, Dog.self]))
  }

  private final class Guarded {
    let name = "captured"
  }

  @Test
  func `the end of a file's last observer closes the file, and frees the objects that its block refers to`()
    throws
  {
    let file = TemporaryFile()
    var configuration = file.configuration
    configuration.objectTypes = [Person.self, Dog.self]
    weak var captured: Guarded?
    try autoreleasepool {
      let realm = try QueueRealm(configuration)
      let heard = Heard<Changed>()
      let guarded = Guarded()
      captured = guarded
      let token = realm.run { realm in
        realm.objects(Person.self).observe { change in
          #expect(guarded.name == "captured")
          heard.add(Changed(change))
        }
      }
      #expect(heard.wait(1).count == 1)
      token.invalidate()
    }
    #expect(try Realm.deleteFiles(for: configuration))
    let limit = Date(timeIntervalSinceNow: 120)
    while captured != nil, Date() < limit { Thread.sleep(forTimeInterval: 0.01) }
    #expect(captured == nil)
  }

  @Test func `a realm refreshes itself again after its last observer ends, and when autorefresh is on`()
    throws
  {
    let realm = try memory()
    let configuration = realm.configuration
    func write(_ id: Int) throws {
      try onThread {
        let realm = try Realm(configuration: configuration)
        try realm.write { realm.add(Person(id: id, name: "", age: 0)) }
      }
    }
    func shows(_ count: Int) -> Bool {
      let limit = Date(timeIntervalSinceNow: 120)
      while realm.run({ $0.objects(Person.self).count }) != count, Date() < limit {
        Thread.sleep(forTimeInterval: 0.01)
      }
      return realm.run { $0.objects(Person.self).count } == count
    }
    let heard = Heard<Changed>()
    let token = realm.run { realm in realm.objects(Person.self).observe { heard.add(Changed($0)) } }
    #expect(heard.wait(1).count == 1)
    realm.run { $0.autorefresh = false }
    try write(1)
    realm.settle()
    #expect(realm.run { $0.objects(Person.self).count } == 0 && heard.all.count == 1)
    realm.run { $0.autorefresh = true }
    #expect(shows(1))
    #expect(heard.wait(2).last == .update(1, [], [0]))
    realm.run { realm in
      realm.autorefresh = false
      token.invalidate()
    }
    try write(2)
    realm.run { $0.autorefresh = true }
    #expect(shows(2))
    try write(3)
    #expect(shows(3))
  }

  @Test func `sections continue from their shown state after a write that leaves them out`() throws {
    let realm = try memory()
    let heard = Heard<[[IndexPath]]>()
    try realm.write { realm in for id in 0..<3 { realm.add(Person(id: id, name: "", age: id % 2)) } }
    let token = realm.run { realm in
      realm.objects(Person.self).sectioned(by: \.age).observe { change in
        if case .update(_, let deletions, let insertions, let modifications, _, _) = change {
          heard.add([deletions, insertions, modifications])
        }
      }
    }
    realm.settle()
    try realm.run { realm in
      try realm.write(withoutNotifying: [token]) { realm.delete(realm.objects(Person.self)[0]) }
    }
    try realm.write { $0.object(ofType: Person.self, forPrimaryKey: 2)?.name = "x" }
    #expect(heard.wait(1) == [[[], [], [IndexPath(indexes: [0, 0])]]])
  }

  @Test func `a realm that is invalidated ends its observers`() async throws {
    let configuration = Realm.Configuration(
      inMemoryIdentifier: "ends \(UUID())", objectTypes: [Person.self, Dog.self])
    let reader = EndedReader(configuration)
    let heard = Heard<Changed>()
    async let reading: Void = reader.read(heard)
    #expect(await heard.reach(1).count == 1)
    await reader.invalidate()
    await reading
    #expect(heard.all.count == 1)
  }

  @Test func `a token may be invalidated by its own block, and by another thread`() throws {
    let realm = try memory()
    let heard = Heard<Changed>()
    final class Holder: @unchecked Sendable {
      // Sendable: used on the queue.
      var token: NotificationToken?
    }
    let holder = Holder()
    realm.run { realm in
      holder.token = realm.objects(Person.self).observe { change in
        heard.add(Changed(change))
        holder.token?.invalidate()
      }
    }
    #expect(heard.wait(1).count == 1)
    try realm.write { $0.add(Person(id: 1, name: "", age: 0)) }
    realm.settle()
    #expect(heard.all.count == 1)
    let other = realm.run { realm in realm.objects(Person.self).observe { heard.add(Changed($0)) } }
    #expect(heard.wait(2).count == 2)
    other.invalidate()
    try realm.write { $0.add(Person(id: 2, name: "", age: 0)) }
    realm.settle()
    #expect(heard.all.count == 2)
  }
}

private actor EndedReader {
  private let configuration: Realm.Configuration
  private var realm: Realm?
  private var isEnded = false

  init(_ configuration: Realm.Configuration) { self.configuration = configuration }

  func read(_ heard: Heard<Changed>) async {
    guard let opened = try? await Realm(configuration: configuration, actor: self) else { return }
    realm = opened
    if isEnded { return }
    for await change in opened.objects(Person.self).changes() { heard.add(Changed(change)) }
  }

  func invalidate() {
    isEnded = true
    realm?.invalidate()
  }
}
