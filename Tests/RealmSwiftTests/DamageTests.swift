import Foundation
@_spi(Testing) import RealmSwift
import TestSupport
import Testing

extension MisuseTests {
  /// A file with objects of several classes, links both ways, lists and long values.
  private static func sampleFile(_ key: Data?) throws -> Data {
    let file = TemporaryFile()
    var configuration = file.configuration
    (configuration.encryptionKey, configuration.objectTypes) = (key, types)
    try autoreleasing {
      let realm = try Realm(configuration: configuration)
      try realm.write {
        for index in 0..<40 {
          let node = Node("n\(index)", note: "note \(index % 7)")
          if let before = realm.objects(Node.self).last { node.others.append(objectsIn: [before, before]) }
          node.next = realm.object(ofType: Node.self, forPrimaryKey: "n\(index / 2)")
          realm.add(node)
          realm.create(
            Levelled.self, value: ["level": index % 2 + 1, "maybe": 2, "all": [1, 2]] as [String: Any])
        }
        realm.create(Node.self, value: ["key": "long", "note": String(repeating: "x", count: 9000)])
      }
      try realm.write { realm.delete(realm.objects(Node.self)[3]) }
    }
    return try Data(contentsOf: file.url)
  }
  private static let flips = Int(ProcessInfo.processInfo.environment["REALM_FLIPS"] ?? "") ?? 60
  private static let types: [ObjectBase.Type] = [Node.self, Levelled.self, Keyed.self]

  /// All there is in a realm, as text.
  private static func content(_ configuration: Realm.Configuration) throws -> [String] {
    let realm = try Realm(configuration: configuration)
    var lines: [String] = []
    for node in realm.objects(Node.self) {
      lines.append("\(node.key) \(node.note) \(node.next?.key ?? "") \(Array(node.others.map(\.key)))")
      lines.append("\(node.holders.map(\.key).sorted()) \(node.previous.map(\.key).sorted())")
      let found = realm.object(ofType: Node.self, forPrimaryKey: node.key)
      lines.append("\(found == node)")
    }
    for object in realm.objects(Levelled.self) {
      lines.append("\(object.level) \(String(describing: object.maybe)) \(Array(object.all))")
    }
    lines.append("\(realm.objects(Node.self).where { $0.note == "note 3" }.map(\.key).sorted())")
    lines.append(
      "\(realm.objects(Node.self).where { $0.next.note == "note 1" }.sorted(by: \.note).map(\.key).sorted())")
    lines.append(
      "\(realm.objects(Levelled.self).where { $0.level == .low }.count) \(realm.objects(Node.self).count)")
    return lines
  }

  @Test("A damaged file reads right, throws, or stops by its message; nothing else")
  func damage() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    for key in [nil, Data((0..<64).map { $0 })] {
      let bytes = try Self.sampleFile(key)
      let whole = TemporaryFile()
      try bytes.write(to: whole.url)
      var configuration = whole.configuration
      (configuration.encryptionKey, configuration.objectTypes) = (key, Self.types)
      let expected = try Self.content(configuration)
      var random = SeededGenerator(seed: seed)
      let used = bytes.indices.filter { bytes[$0] != 0 }
      for _ in 0..<Self.flips {
        let place = used.randomElement(using: &random)!
        var damaged = bytes
        damaged[place] ^= UInt8(1) << UInt8.random(in: 0..<8, using: &random)
        let file = TemporaryFile()
        try damaged.write(to: file.url)
        configuration.fileURL = file.url
        let opened = configuration
        let outcome = stop {
          let content = try Self.content(opened)
          #expect(content == expected, "byte \(place) of \(bytes.count), seed \(seed)")
          let realm = try Realm(configuration: opened)
          try realm.write {
            realm.add(Node("new"))
            realm.objects(Node.self)[0].note = "changed"
            realm.delete(realm.objects(Node.self)[1])
            realm.delete(realm.objects(Levelled.self).where { $0.level == .low })
          }
          #expect(realm.objects(Node.self).count == 40 && realm.objects(Levelled.self).count == 20)
        }
        let told = ["thrown: ", "Unreadable", "Unwritable realm", "Write transaction"]
        let isTold = outcome.isEmpty || told.contains { outcome.hasPrefix($0) }
        #expect(isTold, "byte \(place): \(outcome), seed \(seed)")
      }
    }
  }
}
