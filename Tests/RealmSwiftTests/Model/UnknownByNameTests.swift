import Foundation
import RealmSwift
import RealmTestSupport
import Testing

private enum Kind: String, PersistableEnum, Codable { case cat, dog }
private struct Even: FailableCustomPersistable {
  var half: Int
  init?(persistedValue: Int) {
    guard persistedValue % 2 == 0 else { return nil }
    half = persistedValue / 2
  }
  var persistableValue: Int { half * 2 }
}

private class Holder: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var kind: Kind?
  @Persisted var even: Even?
  @Persisted var list: List<Kind?>
  @Persisted var set: MutableSet<Kind?>
  @Persisted var map: Map<String, Kind?>
  @Persisted var evens: List<Even?>
  @Persisted var required: List<Kind>
  @Persisted var requiredSet: MutableSet<Kind>
  @Persisted var requiredMap: Map<String, Kind>
}
private class WideHolder: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var required: List<String>
  @Persisted var requiredSet: MutableSet<String>
  @Persisted var requiredMap: Map<String, String>
  @Persisted var kind: String?
  @Persisted var even: Int?
  @Persisted var list: List<String?>
  @Persisted var set: MutableSet<String?>
  @Persisted var map: Map<String, String?>
  @Persisted var evens: List<Int?>
  override class func _realmObjectName() -> String? { "Holder" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private enum OldGrade: Int, RealmEnum, Codable { case low = 1, high = 2 }
private class OldHolder: Object {
  let property = RealmProperty<OldGrade?>()
  let optional = RealmOptional<OldGrade>()
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

private var values: [String: Any] {
  [
    "id": 1, "kind": "lynx", "even": 3, "list": ["lynx", NSNull(), "cat"] as [Any],
    "set": ["lynx", "cat", "lynx"], "map": ["a": "lynx", "b": "dog"], "evens": [3, 4],
  ]
}

/// A realm with an object whose required collections have elements without a case.
private func realm(_ file: TemporaryFile) throws -> Realm {
  var configuration = file.configuration
  configuration.objectTypes = [WideHolder.self]
  try autoreleasing {
    let realm = try Realm(configuration: configuration)
    try realm.write {
      realm.create(
        WideHolder.self,
        value: values.merging([
          "required": ["cat", "lynx", "dog"], "requiredSet": ["lynx", "dog"],
          "requiredMap": ["a": "lynx", "b": "dog"],
        ]) { $1 })
    }
  }
  configuration.objectTypes = [Holder.self]
  return try Realm(configuration: configuration)
}

@Suite struct UnknownByNameTests {
  private func expectStored(_ holder: Holder, _ what: String) {
    #expect(holder.kind == nil && holder.even == nil, "\(what)")
    #expect(holder["kind"] as? String == "lynx" && holder["even"] as? Int == 3, "\(what)")
    #expect(Array(holder.list) == [nil, nil, .cat], "\(what)")
    #expect(holder.list.persistedValues == ["lynx", nil, "cat"], "\(what)")
    #expect(holder.set.count == 2 && Set(holder.set.persistedValues) == ["lynx", "cat"], "\(what)")
    #expect(
      holder.map.persistedValues.map(\.value) == ["lynx", "dog"] && holder.map["a"] == .some(nil), "\(what)")
    #expect(holder.evens.persistedValues == [3, 4] && holder.evens[0] == nil, "\(what)")
  }

  @Test func `an unknown raw value that is set by name is stored, and an optional property reads nil`() throws
  {
    expectStored(Holder(value: values), "init(value:)")
    let byName = Holder()
    for (name, value) in values where name != "id" { byName[name] = value }
    expectStored(byName, "unmanaged, by name")
    let realm = try memoryRealm([Holder.self])
    try realm.write {
      expectStored(realm.create(Holder.self, value: values), "create(value:)")
      let second = realm.create(Holder.self, value: ["id": 2])
      for (name, value) in values where name != "id" { second[name] = value }
      expectStored(second, "managed, by name")
      byName.id = 4
      realm.add(byName)
      expectStored(byName, "added")
      second.kind = .cat
      #expect(second["kind"] as? Kind == .cat)
    }
  }

  @Test func `a property without @Persisted keeps an unknown raw value`() throws {
    let old = OldHolder(value: ["property": 99, "optional": 98])
    let realm = try memoryRealm([OldHolder.self])
    func expectKept(_ holder: OldHolder, _ what: String) throws {
      #expect(holder.property.value == nil && holder.optional.value == nil, "\(what)")
      #expect(holder["property"] as? Int == 99 && holder["optional"] as? Int == 98, "\(what)")
      #expect(holder.description.contains("property = 99") && holder.property.description == "99", "\(what)")
      let encoder = JSONEncoder()
      #expect(String(decoding: try encoder.encode([holder.property]), as: UTF8.self) == "[99]", "\(what)")
      #expect(String(decoding: try encoder.encode([holder.optional]), as: UTF8.self) == "[98]", "\(what)")
    }
    try expectKept(old, "unmanaged")
    try expectKept(OldHolder(value: old), "copied")
    try realm.write {
      let managed = realm.create(OldHolder.self, value: old)
      try expectKept(managed, "managed")
      try expectKept(realm.create(OldHolder.self, value: managed), "created of a managed one")
      try expectKept(OldHolder(value: managed), "copied from the realm")
      managed.property.value = .high
      #expect(managed["property"] as? OldGrade == .high)
      realm.add(old)
    }
    try expectKept(old, "added")
  }

  @Test(arguments: [true, false])
  func `a change of a whole collection keeps unknown raw values`(isManaged: Bool) throws {
    let file = TemporaryFile()
    let realm = try realm(file)
    let from = realm.objects(Holder.self)[0]
    try realm.write {
      let to = isManaged ? realm.create(Holder.self, value: ["id": 2]) : Holder()
      to.list.append(.dog)
      to.list.append(objectsIn: from.list)
      to.list.insert(contentsOf: from.list[0..<1], at: 0)
      to.list.replaceSubrange(1..<2, with: from.list.reversed())
      #expect(to.list.persistedValues == ["lynx", "cat", nil, "lynx", "lynx", nil, "cat"])
      to.list[0..<2] = from.list[0..<1]
      #expect(to.list.persistedValues == ["lynx", nil, "lynx", "lynx", nil, "cat"])
      to.required.append(objectsIn: from.required.sorted(ascending: false))
      to.required.append(objectsIn: AnyRealmCollection(from.required))
      #expect(to.required.persistedValues == ["lynx", "dog", "cat", "cat", "lynx", "dog"])
      to.required.removeAll()
      to.required.append(objectsIn: from.requiredSet)
      #expect(Set(to.required.persistedValues) == ["lynx", "dog"])

      to.requiredSet.insert(.cat)
      #expect(!from.requiredSet.isSubset(of: to.requiredSet) && !from.requiredSet.intersects(to.requiredSet))
      to.requiredSet.formUnion(from.requiredSet)
      #expect(Set(to.requiredSet.persistedValues) == ["cat", "dog", "lynx"] && to.requiredSet.count == 3)
      #expect(from.requiredSet.isSubset(of: to.requiredSet) && from.requiredSet.intersects(to.requiredSet))
      to.set.insert(.dog)
      to.set.formUnion(from.set)
      to.set.insert(objectsIn: from.list)
      #expect(Set(to.set.persistedValues) == ["cat", "dog", "lynx", nil] && to.set.count == 4)

      to.requiredMap["b"] = .cat
      to.requiredMap.merge(from.requiredMap) { first, _ in first }
      #expect(to.requiredMap.persistedValues.map(\.value) == ["lynx", "cat"])
      to.map["a"] = .some(.dog)
      to.map.merge(from.map) { _, second in second }
      #expect(to.map.persistedValues.map(\.value) == ["lynx", "dog"])
      to.map.merge(["a": .cat]) { _, second in second }
      to.map.merge(from.map.asKeyValueSequence()) { first, _ in first }
      #expect(to.map.persistedValues.map(\.value) == ["cat", "dog"])
    }
  }

  @Test func `sorted values and AnyRealmCollection show unknown raw values`() throws {
    let file = TemporaryFile()
    let holder = try realm(file).objects(Holder.self)[0]
    let sorted = holder.required.sorted(ascending: true)
    #expect(sorted.description.contains("lynx") && sorted.persistedValues == ["cat", "dog", "lynx"])
    #expect(sorted.index(of: .dog) == 1 && sorted.contains(.cat) && sorted[0] == .cat)
    let any = AnyRealmCollection(holder.required)
    #expect(any.description.contains("lynx") && any.persistedValues == ["cat", "lynx", "dog"])
    #expect(any.index(of: .dog) == 2 && any.contains(.dog) && AnyRealmCollection(sorted).contains(.dog))
    for data in [try JSONEncoder().encode(sorted), try JSONEncoder().encode(AnyRealmCollection(sorted))] {
      #expect(String(decoding: data, as: UTF8.self) == #"["cat","dog","lynx"]"#)
    }
    // Only the last value can't be read.
    #expect(Array(sorted.prefix(2)) == [.cat, .dog])
    #expect(Array(holder.list.sorted(ascending: true)) == [nil, .cat, nil])
  }

  @Test func `a map may store two keys whose texts are equivalent`() throws {
    let holder = Holder(value: ["map": ["a": "lynx"]])
    holder.map["\u{e9}"] = .some(.cat)
    holder.map["e\u{301}"] = .some(.dog)
    let realm = try memoryRealm([Holder.self])
    #expect(holder.map.persistedValues.map(\.value) == ["lynx", "dog", "cat"])
    let copy = Holder(value: holder)
    holder.map["a"] = nil
    copy.map = holder.map
    #expect(copy.map.count == 2)
    holder["map"] = ["a": "lynx", "\u{e9}": "cat"]
    holder.map["e\u{301}"] = .some(.dog)
    try realm.write { realm.add(holder) }
    #expect(holder.map.persistedValues.map(\.value) == ["lynx", "dog", "cat"])
  }
}
