import Foundation
import RealmSwift
import Testing

private actor SequenceReader {
  private let configuration: Realm.Configuration
  private var realm: Realm?

  init() {
    configuration = Realm.Configuration(
      inMemoryIdentifier: "sequence \(UUID())", objectTypes: [Person.self, Dog.self, Village.self])
  }

  func open() async throws -> Realm.Configuration {
    realm = try await Realm(configuration: configuration, actor: self)
    return configuration
  }

  /// Reads changes until they have told `count` insertions. The collection itself may be ahead of the changes.
  func read(_ count: Int, _ heard: Heard<Changed>, body: () -> Void = {}) async {
    guard let realm else { return }
    for await change in realm.objects(Person.self).changes() {
      heard.add(Changed(change))
      body()
      if heard.all.map(\.insertions.count).reduce(0, +) >= count { break }
    }
  }

  func add(_ id: Int) async throws {
    try await realm?.asyncWrite { realm?.add(Person(id: id, name: "", age: 0)) }
  }

  func refresh() { realm?.refresh() }

  func stay() { realm?.autorefresh = false }

  /// Lets another thread write an object that nobody observes, before a loop that was woken takes its turn.
  func refreshAndBeOvertaken() throws {
    let configuration = configuration
    realm?.refresh()
    try onThread {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.add(Village()) }
    }
    Thread.sleep(forTimeInterval: 0.05)
  }

  func close() { realm = nil }
}

@Suite struct ChangeSequenceTests {
  @Test func `a loop over changes gets the collection in its present state, and then its changes`()
    async throws
  {
    let (reader, heard) = (SequenceReader(), Heard<Changed>())
    _ = try await reader.open()
    async let reading: Void = reader.read(3, heard)
    #expect(await heard.reach(1) == [.initial(0)])
    for id in 0..<3 { try await reader.add(id) }
    await reading
    #expect(heard.all.last?.count == 3)
    #expect(heard.all.dropFirst().flatMap(\.insertions) == [0, 1, 2])
    await reader.close()
  }

  @Test func `changes that happen while the loop's body runs are told at once`() async throws {
    let (reader, heard) = (SequenceReader(), Heard<Changed>())
    let configuration = try await reader.open()
    await reader.read(50, heard) {
      guard heard.all.count == 1 else { return }
      #expect(throws: Never.self) {
        try onThread {
          let realm = try Realm(configuration: configuration)
          for id in 0..<50 { try realm.write { realm.add(Person(id: id, name: "", age: 0)) } }
        }
      }
    }
    #expect(heard.all == [.initial(0), .update(50, [], Array(0..<50))])
    await reader.close()
  }

  @Test func `a loop is woken again if another commit overtakes its realm`() async throws {
    let (reader, heard) = (SequenceReader(), Heard<Changed>())
    let configuration = try await reader.open()
    await reader.stay()
    let task = Task { await reader.read(1, heard) }
    #expect(await heard.reach(1) == [.initial(0)])
    try onThread {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.add(Person(id: 1, name: "", age: 0)) }
    }
    try await reader.refreshAndBeOvertaken()
    for _ in 0..<1_500 where heard.all.count < 2 {
      try await Task.sleep(for: .milliseconds(20))
      await reader.refresh()
    }
    task.cancel()
    await task.value
    #expect(heard.all == [.initial(0), .update(1, [], [0])])
    await reader.close()
  }

  @Test func `a task that is cancelled ends its loop`() async throws {
    let (reader, heard) = (SequenceReader(), Heard<Changed>())
    _ = try await reader.open()
    let task = Task { await reader.read(1, heard) }
    #expect(await heard.reach(1) == [.initial(0)])
    task.cancel()
    await task.value
    try await reader.add(1)
    #expect(heard.all.count == 1)
    await reader.close()
  }
}
