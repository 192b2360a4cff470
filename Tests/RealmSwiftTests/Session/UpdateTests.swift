import Foundation
import RealmSwift
import Testing

@Suite("Updates")
struct UpdateTests {
  @Test("An update reaches every nested object, and changes only the given properties")
  func nested() throws {
    let realm = try memoryRealm()
    try realm.write {
      realm.create(Node.self, value: ["key": "a", "note": "1", "next": ["key": "b", "note": "2"]])
      realm.create(
        Node.self,
        value: ["key": "a", "next": ["key": "b"], "others": [["key": "b"], ["key": "c"]]], update: .modified)
    }
    let (a, b) = (
      realm.object(ofType: Node.self, forPrimaryKey: "a"), realm.object(ofType: Node.self, forPrimaryKey: "b")
    )
    #expect(a?.note == "1" && b?.note == "2" && a?.others.map(\.key) == ["b", "c"])
    #expect(realm.objects(Node.self).count == 3)
  }

  @Test("An update without a value for a link leaves the link, and adds no object for its default")
  func defaultLinks() throws {
    let realm = try memoryRealm()
    try realm.write {
      let first = realm.create(Starter.self, value: ["key": 1, "note": "a"])
      #expect(first.dog?.name == "default")
      first.dog?.name = "own"
      realm.create(Starter.self, value: ["key": 1, "note": "b"], update: .modified)
      #expect(first.dog?.name == "own" && first.note == "b")
      realm.create(Starter.self, value: ["key": 1, "dog": NSNull()], update: .all)
      #expect(first.dog == nil && first.note == "b")
      realm.create(Starter.self, value: ["key": 2], update: .all)
    }
    #expect(realm.objects(Dog.self).map(\.name).sorted() == ["default", "own"])
  }

  @Test("Two objects with one primary key become one row, even in a circle")
  func twice() throws {
    let realm = try memoryRealm()
    let (first, second, other) = (Node("x", note: "1"), Node("x", note: "2"), Node("y"))
    first.next = other
    other.next = second
    other.others.append(objectsIn: [first, second, first])
    try realm.write { realm.add(first, update: .modified) }
    #expect(realm.objects(Node.self).count == 2)
    #expect(first.isSameObject(as: second) && first == second)
    #expect(first.next?.key == "y" && other.next?.key == "x")
    #expect(other.others.map(\.key) == ["x", "x", "x"] && first.holders.count == 3)
    let (again, self1) = (Node("x", note: "3"), Node("y", note: "4"))
    again.next = again
    self1.next = again
    again.others.append(objectsIn: [again, self1])
    try realm.write { realm.add(again, update: .all) }
    #expect(first.note == "3" && first.next == first && first.others.map(\.key) == ["x", "y"])
    #expect(
      other.note == "4" && other.others.isEmpty && Array(first.previous).map(\.key).sorted() == ["x", "y"])
  }

  @Test("Nil is a primary key like any other")
  func nilKey() throws {
    let realm = try memoryRealm()
    try realm.write {
      realm.create(Keyed.self, value: ["note": "nil"])
      realm.create(Keyed.self, value: ["key": 0, "note": "zero"])
      realm.create(Keyed.self, value: ["key": NSNull(), "note": "new"], update: .modified)
    }
    #expect(realm.objects(Keyed.self).count == 2)
    #expect(realm.object(ofType: Keyed.self, forPrimaryKey: Int?.none)?.note == "new")
    #expect(realm.object(ofType: Keyed.self, forPrimaryKey: Int?.some(0))?.note == "zero")
    #expect(realm.object(ofType: Keyed.self, forPrimaryKey: 0)?.note == "zero")
    #expect(realm.object(ofType: ShortKeyed.self, forPrimaryKey: 300) == nil)
    #expect(realm.object(ofType: ShortKeyed.self, forPrimaryKey: Int8(3)) == nil)
  }

  @Test("Primary keys are compared by their bytes")
  func keyBytes() throws {
    let realm = try memoryRealm()
    let keys = ["\u{e9}", "e\u{301}", "", "\0", "a\0b", "a", "👩‍👩‍👧", String(repeating: "x", count: 5000)]
    try realm.write { for key in keys { realm.add(Node(key, note: key)) } }
    #expect(realm.objects(Node.self).count == keys.count)
    for key in keys {
      let found = realm.object(ofType: Node.self, forPrimaryKey: key)
      #expect(found.map { Array($0.note.utf8) } == Array(key.utf8))
      #expect(realm.objects(Node.self).where { $0.key == key }.count == 1)
    }
    try realm.write {
      let node = realm.objects(Node.self)[0]
      node.note = "\u{e9}"
      node.note = "e\u{301}"
      #expect(node.note.utf8.count == 3)
    }
  }

  @Test("A create copies objects of another realm, with the objects that they link to")
  func otherRealm() throws {
    let (realm, other) = (try memoryRealm(), try memoryRealm())
    try other.write {
      let a = other.create(Node.self, value: ["key": "a", "next": ["key": "b"], "others": [["key": "c"]]])
      a.next?.next = a
      a.others.append(a)
    }
    let source = other.objects(Node.self).where { $0.key == "a" }[0]
    try realm.write {
      realm.create(Node.self, value: ["key": "z", "next": source, "others": [source, source]])
      realm.create(Node.self, value: source, update: .modified)
    }
    #expect(realm.objects(Node.self).map(\.key).sorted() == ["a", "b", "c", "z"])
    let copy = realm.object(ofType: Node.self, forPrimaryKey: "a")
    #expect(copy?.next?.next == copy && copy?.others.map(\.key) == ["c", "a"] && copy?.realm == realm)
    #expect(source.realm == other && other.objects(Node.self).count == 3)
  }

  @Test("The elements of an array are the stored properties in their order, without computed ones")
  func arrays() throws {
    let target = Target(value: ["a", 3])
    #expect(target.name == "a" && target.count == 3)
  }

  @Test("An object added in a cancelled transaction is invalid, with its lists and linking objects")
  func cancelled() throws {
    let realm = try memoryRealm()
    let kept = Node("kept")
    try realm.write { realm.add(kept) }
    let (added, inner) = (Node("added"), Node("inner"))
    added.others.append(objectsIn: [inner, kept])
    let list = added.others
    realm.beginWrite()
    realm.add(added)
    kept.others.append(added)
    let found = kept.others[0]
    let (holders, results) = (inner.holders, list.where { $0.key == "inner" })
    #expect(holders.count == 1 && results.count == 1 && kept.holders.count == 1)
    realm.cancelWrite()
    #expect(added.isInvalidated && inner.isInvalidated && found.isInvalidated && list.isInvalidated)
    #expect(holders.isInvalidated && results.isInvalidated && holders.isEmpty)
    #expect(!kept.isInvalidated && kept.others.isEmpty && kept.holders.isEmpty)
    let later = Node("later")
    try realm.write { realm.add([later, Node("more")]) }
    #expect(added.isInvalidated && inner.isInvalidated && found.isInvalidated && list.isInvalidated)
    #expect(
      !added.isSameObject(as: later) && !inner.isSameObject(as: later) && added != later && inner != later)
    #expect(
      realm.objects(Node.self).index(of: added) == nil && realm.objects(Node.self).index(of: inner) == nil)
    #expect(realm.objects(Node.self).where { $0.next == added }.count == 0)
    try realm.write { kept.next = later }
    #expect(realm.objects(Node.self).where { $0.next == added }.isEmpty)
    #expect(realm.objects(Node.self).where { $0.next == inner }.isEmpty)
  }

  @Test("The number of a row is not given again while handles of it may exist")
  func deadForEver() throws {
    let realm = try memoryRealm()
    var dead: [Object] = []
    try realm.write {
      let first = realm.create(Node.self, value: ["key": "1"])
      realm.delete(first)
      let second = realm.create(Node.self, value: ["key": "2"])
      let counted = realm.create(Counted.self)
      realm.deleteAll()
      dead = [first, second, counted]
      realm.create(Node.self, value: ["key": "3"])
      realm.create(Counted.self)
      #expect(!dead.contains { !$0.isInvalidated })
    }
    #expect(!dead.contains { !$0.isInvalidated })
    let third = realm.objects(Node.self)[0]
    realm.beginWrite()
    realm.delete(third)
    #expect(third.isInvalidated && realm.objects(Node.self).isEmpty)
    realm.cancelWrite()
    #expect(!third.isInvalidated && third.key == "3")
    try realm.write { realm.deleteAll() }
    try realm.write { realm.create(Node.self, value: ["key": "3"]) }
    #expect(third.isInvalidated && !dead.contains { !$0.isInvalidated })
  }

  @Test("A write block may commit or cancel by itself, and continue")
  func earlyEnds() throws {
    struct Stop: Error {}
    let realm = try memoryRealm()
    try realm.write {
      realm.add(Node("a"))
      try realm.commitWrite()
    }
    #expect(throws: Stop.self) {
      try realm.write {
        realm.add(Node("b"))
        try realm.commitWrite()
        realm.beginWrite()
        realm.add(Node("c"))
        throw Stop()
      }
    }
    try realm.write {
      realm.add(Node("d"))
      realm.cancelWrite()
    }
    #expect(realm.objects(Node.self).map(\.key).sorted() == ["a", "b"] && !realm.isInWriteTransaction)
  }
}
