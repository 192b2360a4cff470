import Foundation
import RealmSwift
import Testing

@Suite("Lifetimes", .serialized)
struct LifetimeTests {
  /// Objects that outlive the thread that made them.
  private final class Kept: @unchecked Sendable {
    var things: [Any] = []
    var reads = 0
  }

  /// The number of open descriptors of a file and of the files beside it. Other tests have other descriptors open.
  private func descriptors(_ url: URL) -> Int {
    let folder = "/proc/self/fd/"
    let all = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return all.count { number in
      let file = try? FileManager.default.destinationOfSymbolicLink(atPath: folder + number)
      return file?.contains(url.lastPathComponent) ?? false
    }
  }
  private func mappings(_ url: URL) -> Int {
    ((try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)) ?? "").split(separator: "\n")
      .filter { $0.contains(url.lastPathComponent) }.count
  }

  @Test("A realm that is released in its write transaction cancels it, and lets others write")
  func droppedInTransaction() throws {
    let file = TemporaryFile()
    let configuration = file.configuration
    try onThread {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.add(Node("kept")) }
      realm.beginWrite()
      realm.add(Node("lost"))
      realm.objects(Node.self).where { $0.key == "kept" }[0].note = "changed"
    }
    let done = DispatchSemaphore(value: 0)
    Thread {
      let realm = try? Realm(configuration: configuration)
      try? realm?.write { realm?.add(Node("more")) }
      done.signal()
    }.start()
    #expect(done.wait(timeout: .now() + 5) == .success)
    let realm = try Realm(configuration: configuration)
    #expect(realm.objects(Node.self).map(\.key).sorted() == ["kept", "more"])
    #expect(realm.objects(Node.self).where { $0.note == "changed" }.isEmpty)
  }

  @Test("Objects keep their realm, whatever the order and the thread in which references are released")
  func orders() throws {
    let file = TemporaryFile()
    let configuration = file.configuration
    try onThread {
      var realm: Realm? = try Realm(configuration: configuration)
      try realm?.write { realm?.create(Node.self, value: ["key": "a", "others": [["key": "b"]]]) }
      var node = realm?.objects(Node.self).where { $0.key == "a" }.first
      realm = nil
      #expect(node?.note == "none")
      var list = node?.others
      node = nil
      #expect(list?.count == 1)
      var results = list?.where { $0.key == "b" }
      list = nil
      #expect(results?.first?.key == "b")
      var holders = results?.first?.holders
      results = nil
      #expect(holders?.first?.key == "a")
      var iterator = holders?.makeIterator()
      holders = nil
      #expect(iterator?.next()?.key == "a")
      iterator = nil
      #expect(self.mappings(configuration.fileURL!) == 0)
    }
    for _ in 0..<20 {
      let kept = Kept()
      try onThread {
        let realm = try Realm(configuration: configuration)
        realm.beginWrite()
        kept.things = [realm.objects(Node.self)[0], realm.create(Node.self, value: ["key": "x"])]
      }
      try onThread { kept.things = [] }
    }
    let realm = try Realm(configuration: configuration)
    #expect(realm.objects(Node.self).count == 2)
  }

  @Test("A realm that is opened again is the one that an object alone has kept open")
  func openedAgain() throws {
    let file = TemporaryFile()
    let configuration = file.configuration
    try onThread {
      var realm: Realm? = try Realm(configuration: configuration)
      try realm?.write { realm?.add(Node("a")) }
      realm?.beginWrite()
      let node = realm?.objects(Node.self).first
      realm = nil
      for _ in 0..<3 {
        let again = try Realm(configuration: configuration)
        #expect(again.isInWriteTransaction)
        #expect(node?.realm?.isInWriteTransaction == true)
      }
      node?.note = "changed"
      try Realm(configuration: configuration).commitWrite()
    }
    #expect(mappings(file.url) == 0)
    try onThread {
      let realm = try Realm(configuration: configuration)
      #expect(realm.objects(Node.self).map(\.note) == ["changed"])
    }
  }

  @Test("A realm is opened while another thread releases the last object that keeps it open")
  func openedWhileItGoes() throws {
    let file = TemporaryFile()
    let configuration = file.configuration
    try onThread {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.add(Node("a")) }
    }
    let (queue, group) = (DispatchQueue(label: "drops"), DispatchGroup())
    try onThread {
      for _ in 0..<1000 {
        let kept = Kept()
        try autoreleasing { kept.things = [try Realm(configuration: configuration).objects(Node.self)[0]] }
        queue.async(group: group) { kept.things = [] }
        try autoreleasing {
          let realm = try Realm(configuration: configuration)
          #expect(realm.objects(Node.self)[0].key == "a")
        }
      }
    }
    group.wait()
    #expect(mappings(file.url) == 0)
  }

  @Test("Objects of other threads are compared and asked for their realm while those threads use it")
  func compared() throws {
    let file = TemporaryFile()
    let configuration = file.configuration
    try onThread {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.create(Keyed.self, value: ["key": 1, "note": ""]) }
    }
    let (kept, ready, done) = (Kept(), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let other = Thread {
      defer {
        ready.signal()
        done.signal()
      }
      autoreleasepool {
        guard
          let object = try? Realm(configuration: configuration).object(ofType: Keyed.self, forPrimaryKey: 1)
        else { return }
        kept.things = [object]
        ready.signal()
        for _ in 0..<3000 where object.realm?.objects(Keyed.self).count == 1 { kept.reads += 1 }
      }
    }
    other.start()
    ready.wait()
    try onThread {
      let object = try #require(kept.things.first as? Keyed)
      let mine = try Realm(configuration: configuration).object(ofType: Keyed.self, forPrimaryKey: 1)
      for _ in 0..<3000 {
        #expect(mine != object)
        #expect(object.realm != nil)
      }
    }
    done.wait()
    #expect(kept.reads == 3000)
    kept.things = []
    #expect(mappings(file.url) == 0)
  }

  @Test("Unmanaged and managed objects are freed without references")
  func counting() throws {
    let name = UUID().uuidString
    let before = Counted.Token.alive
    try autoreleasing {
      let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: name))
      for round in 0..<50 {
        let made = Counted()
        made.next = Counted()
        made.all.append(objectsIn: [Counted(), made.next!])
        if round % 2 == 0 {
          try realm.write { realm.add(made) }
          _ = realm.objects(Counted.self).map { $0.all.count }.reduce(0, +)
        } else {
          realm.beginWrite()
          realm.add(made)
          realm.objects(Counted.self)[0].name = "x"
          realm.cancelWrite()
        }
      }
      #expect(Counted.Token.alive == before)
    }
    let realm = try Realm(configuration: Realm.Configuration(inMemoryIdentifier: name))
    #expect(realm.isEmpty)
  }

  @Test("A thousand opens and closes, with objects and transactions, leave nothing behind")
  func openAndClose() throws {
    let file = TemporaryFile()
    try autoreleasing {
      let realm = try Realm(configuration: file.configuration)
      try realm.write { realm.add(Node("a")) }
    }
    for round in 0..<1000 {
      let realm = try Realm(configuration: file.configuration)
      let node = realm.objects(Node.self)[0]
      if round % 100 == 0 { try realm.write { node.note = "\(round)" } }
      if round % 100 == 50 {
        realm.beginWrite()
        node.note = "lost"
      }
    }
    #expect(descriptors(file.url) < 10)
    #expect(mappings(file.url) < 10)
    let realm = try Realm(configuration: file.configuration)
    #expect(realm.objects(Node.self)[0].note == "900")
  }

  @Test("Threads that write to one file at once lose nothing")
  func threads() throws {
    let file = TemporaryFile()
    let configuration = file.configuration
    try autoreleasing {
      let realm = try Realm(configuration: configuration)
      try realm.write { realm.create(Keyed.self, value: ["key": 0, "note": ""]) }
    }
    let group = DispatchGroup()
    let queue = DispatchQueue(label: "threads", attributes: .concurrent)
    for thread in 1...4 {
      queue.async(group: group) {
        try? onThread {
          for round in 0..<200 {
            try autoreleasing {
              let realm = try Realm(configuration: configuration)
              try realm.write {
                realm.create(Keyed.self, value: ["key": thread * 1000 + round])
                let shared = realm.object(ofType: Keyed.self, forPrimaryKey: 0)!
                shared.note = String((Int(shared.note) ?? 0) + 1)
              }
              if round % 10 == 0 { #expect(realm.objects(Keyed.self).sorted(by: \.key).count > round) }
            }
          }
        }
      }
    }
    group.wait()
    let realm = try Realm(configuration: configuration)
    #expect(realm.objects(Keyed.self).count == 801)
    #expect(realm.object(ofType: Keyed.self, forPrimaryKey: 0)?.note == "800")
  }

  @Test("A session that ends on another thread than its own can be opened again")
  func queueSession() throws {
    let file = TemporaryFile()
    let queue = DispatchQueue(label: "own")
    for round in 0..<50 {
      let kept = Kept()
      let configuration = file.configuration
      try queue.sync {
        let realm = try Realm(configuration: configuration, queue: queue)
        try realm.write { realm.add(Node("\(round)")) }
        kept.things = [realm]
      }
      try onThread { kept.things = [] }
      try queue.sync {
        let realm = try Realm(configuration: configuration, queue: queue)
        #expect(realm.objects(Node.self).count == round + 1)
      }
    }
  }

  @Test("A refresh returns whether the realm has changed")
  func refreshing() throws {
    let realm = try memoryRealm()
    #expect(!realm.refresh())
    #expect(realm.objects(Node.self).isEmpty && !realm.refresh())
  }

  @Test("All paths to a file lead to one realm")
  func paths() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    let (real, link) = (folder.appendingPathComponent("real"), folder.appendingPathComponent("link"))
    try FileManager.default.createDirectory(at: real, withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: real)
    defer { try? FileManager.default.removeItem(at: folder) }
    let first = try Realm(fileURL: link.appendingPathComponent("a.realm"))
    let second = try Realm(fileURL: real.appendingPathComponent("a.realm"))
    let third = try Realm(fileURL: real.appendingPathComponent("../link/./a.realm"))
    #expect(first == second && second == third)
  }
}
