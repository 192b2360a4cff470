import Foundation
import Synchronization
import RealmTestSupport
import Testing

@_spi(Testing) @testable import RealmSwift

private class Ticket: Object {
  @Persisted(primaryKey: true) var id: ObjectId
  @Persisted(indexed: true) var parent: ObjectId?
  @Persisted var title: String
}

@Suite struct ObjectIdTests {
  @Test func `a text of 24 hexadecimal digits and its id are converted into each other`() throws {
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<200 {
      let text = (0..<24).map { _ in String(generator.below(16), radix: 16) }.joined()
      let id = try ObjectId(string: text)
      #expect(id.stringValue == text && id.description == text)
      #expect(try ObjectId(string: text.uppercased()) == id)
    }
    #expect(ObjectId().stringValue == String(repeating: "0", count: 24))
    #expect(ObjectId("00000000000000000000000a").stringValue.hasSuffix("0a"))
  }

  @Test(arguments: [
    "", "12", "0123456789abcdef0123456", "0123456789abcdef012345678", "0123456789abcdef0123456g",
    "0x23456789abcdef01234567", " 123456789abcdef01234567", "é123456789abcdef0123456",
  ])
  func `any other text is an error that shows the text`(text: String) {
    let error = #expect(throws: Realm.Error.self) { try ObjectId(string: text) }
    #expect(error?.code == .invalidInput && error?.localizedDescription.contains("'\(text)'") == true)
  }

  @Test func `ids are ordered by their bytes`() throws {
    var generator = SeededGenerator(seed: 2)
    // The texts have few different bytes, so that many ids begin with the same bytes.
    let texts = (0..<300).map { _ in
      (0..<12).map { _ in ["00", "7f", "80", "ff"][generator.below(4)] }.joined()
    }
    let ids = try texts.map { try ObjectId(string: $0) }
    #expect(ids.sorted().map(\.stringValue) == texts.sorted())
    let (low, high) = (try ObjectId(string: "00000000ffffffffffffffff"), ObjectId("000000010000000000000000"))
    #expect(low < high && high.isGreaterThan(low) && high.isGreaterThanOrEqual(to: high))
    #expect(low.isLessThan(high) && low.isLessThanOrEqual(to: low) && !high.isLessThanOrEqual(to: low))
  }

  @Test func `generated ids grow in each thread, and no two threads get the same`() async {
    let start = Date()
    let all = await withTaskGroup(of: [ObjectId].self) { group in
      for _ in 0..<4 { group.addTask { (0..<20_000).map { _ in ObjectId.generate() } } }
      return await group.reduce(into: [[ObjectId]]()) { $0.append($1) }
    }
    for ids in all { #expect(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 }) }
    #expect(Set(all.joined()).count == 80_000)
    // The timestamps are exact to the second. They may run ahead if a second had too many ids.
    #expect((start - 1...Date() + 60).contains(all[0][0].timestamp))
  }

  @Test func `an id contains its second, machine and process`() {
    let id = ObjectId(
      timestamp: Date(timeIntervalSince1970: 1_700_000_000.9), machineId: 0x0a0b0c, processId: 0x1d2e)
    #expect(id.timestamp == Date(timeIntervalSince1970: 1_700_000_000))
    #expect(id.stringValue.hasPrefix("6553f1000a0b0c1d2e"))
    let early = ObjectId(timestamp: .distantPast, machineId: -1, processId: -1)
    #expect(early.stringValue.hasPrefix("00000000ffffffffff"))
    #expect(ObjectId(timestamp: .distantFuture, machineId: 0, processId: 0).stringValue.hasPrefix("ffffffff"))
  }

  @Test func `an id is coded as its text`() throws {
    let ids = [ObjectId.generate(), ObjectId()]
    let json = try JSONEncoder().encode(ids)
    #expect(String(decoding: json, as: UTF8.self) == "[\"\(ids[0])\",\"\(ids[1])\"]")
    #expect(try JSONDecoder().decode([ObjectId].self, from: json) == ids)
    #expect(throws: Realm.Error.self) {
      try JSONDecoder().decode([ObjectId].self, from: Data(#"["no id"]"#.utf8))
    }
  }

  @Test func `objects are found, sorted and counted by ids`() throws {
    let realm = try memoryRealm([Ticket.self])
    let root = Ticket(value: ["title": "root"])
    try realm.write {
      realm.add(root)
      for number in 0..<100 {
        realm.create(
          Ticket.self,
          value: [
            "id": ObjectId.generate(), "parent": (number % 3 == 0 ? root.id : nil) as Any,
            "title": "\(number)",
          ])
      }
    }
    let tickets = realm.objects(Ticket.self)
    #expect(realm.object(ofType: Ticket.self, forPrimaryKey: root.id)?.title == "root")
    #expect(realm.object(ofType: Ticket.self, forPrimaryKey: ObjectId()) == nil)
    #expect(tickets.where { $0.parent == root.id }.count == 34)
    #expect(tickets.where { $0.parent == nil }.count == 67)
    #expect(tickets.where { $0.id.in([root.id, ObjectId()]) }.count == 1)
    let sorted = tickets.sorted(byKeyPath: "id", ascending: false)
    #expect(sorted.first?.title == "99" && sorted.last?.title == "root")
    #expect(root.description.contains("id = \(root.id);"))
  }
}
