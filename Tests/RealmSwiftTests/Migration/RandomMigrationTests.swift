import Foundation
import RealmSwift
import RealmTestSupport
import Testing

/// The types of random properties.
private enum Shape: CaseIterable {
  case int, optionalInt, string, optionalString, double, bool, ints, optionalStrings

  var type: any Filling.Type {
    switch self {
    case .int: Int.self
    case .optionalInt: Int?.self
    case .string: String.self
    case .optionalString: String?.self
    case .double: Double.self
    case .bool: Bool.self
    case .ints: List<Int>.self
    case .optionalStrings: List<String?>.self
    }
  }
}

/// A value in the test's model.
private enum Content: Equatable {
  case none
  case int(Int)
  case string(String)
  case double(Double)
  case bool(Bool)
  case many([Content])

  /// The value in the form that the object layer accepts.
  var any: Any {
    switch self {
    case .none: NSNull()
    case .int(let number): number
    case .string(let text): text
    case .double(let number): number
    case .bool(let flag): flag
    case .many(let contents): contents.map(\.any)
    }
  }

  init(_ any: Any?) {
    switch any {
    case let number as Int: self = .int(number)
    case let text as String: self = .string(text)
    case let number as Double: self = .double(number)
    case let flag as Bool: self = .bool(flag)
    case let list as List<Int>: self = .many(list.map { .int($0) })
    case let list as List<String?>: self = .many(list.map { $0.map { .string($0) } ?? .none })
    default: self = .none
    }
  }

  /// The value in another shape, by the rules of the guide.
  func converted(to shape: Shape) -> Content {
    switch shape {
    case .int: single.number ?? .int(0)
    case .optionalInt: single.number ?? .none
    case .string: single.text ?? .string("")
    case .optionalString: single.text ?? .none
    case .double: single.double ?? .double(0)
    case .bool: single.flag ?? .bool(false)
    case .ints:
      .many(
        elements {
          $0.number ?? .int(0)
        } drop: {
          $0.number
        })
    case .optionalStrings:
      .many(
        elements {
          $0.text ?? .none
        } drop: {
          $0.text
        })
    }
  }

  /// The only element, if there is exactly one.
  private var single: Content {
    guard case .many(let contents) = self else { return self }
    return contents.count == 1 ? contents[0] : .none
  }

  private func elements(_ keep: (Content) -> Content, drop: (Content) -> Content?) -> [Content] {
    if case .many(let contents) = self { return contents.map(keep) }
    return drop(self).map { [$0] } ?? []
  }

  private var number: Content? {
    switch self {
    case .int: self
    case .bool(let flag): .int(flag ? 1 : 0)
    case .double(let number): Int(exactly: number).map { .int($0) }
    case .string(let text): Int(text).map { .int($0) }
    default: nil
    }
  }
  private var text: Content? {
    switch self {
    case .int(let number): .string("\(number)")
    case .string: self
    case .double(let number): .string("\(number)")
    case .bool(let flag): .string("\(flag)")
    default: nil
    }
  }
  private var double: Content? {
    switch self {
    case .int(let number): .double(Double(number))
    case .double: self
    case .bool(let flag): .double(flag ? 1 : 0)
    case .string(let text): Double(text).map { .double($0) }
    default: nil
    }
  }
  private var flag: Content? {
    switch self {
    case .bool: self
    case .string("true"): .bool(true)
    case .string("false"): .bool(false)
    default:
      switch number {
      case .int(0): .bool(false)
      case .int(1): .bool(true)
      default: nil
      }
    }
  }

  static func random(_ shape: Shape, _ generator: inout SeededGenerator) -> Content {
    func text(_ generator: inout SeededGenerator) -> Content {
      .string(["", "1", "0", "true", "12", "-3", "1.5", "x", "false"].randomElement(using: &generator)!)
    }
    switch shape {
    case .int: return .int(Int.random(in: -2...4, using: &generator))
    case .optionalInt:
      return Bool.random(using: &generator) ? .none : .int(Int.random(in: -2...4, using: &generator))
    case .string: return text(&generator)
    case .optionalString: return Bool.random(using: &generator) ? .none : text(&generator)
    case .double: return .double([0, 1, 1.5, -2].randomElement(using: &generator)!)
    case .bool: return .bool(Bool.random(using: &generator))
    case .ints:
      return .many(
        (0..<Int.random(in: 0...2, using: &generator)).map { _ in
          .int(Int.random(in: 0...3, using: &generator))
        })
    case .optionalStrings:
      return .many(
        (0..<Int.random(in: 0...2, using: &generator)).map { _ in
          Bool.random(using: &generator) ? .none : text(&generator)
        })
    }
  }
}

private protocol Filling: _Persistable {}
extension Int: Filling {}
extension String: Filling {}
extension Double: Filling {}
extension Bool: Filling {}
extension Optional: Filling where Wrapped: _PersistableInsideOptional {}
extension List: Filling {}

// A class in two versions with different properties.

private class Left<A: _Persistable, B: _Persistable>: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var a: A
  @Persisted var b: B
  @Persisted var next: Left<A, B>?
  override class func _realmObjectName() -> String? { "Thing" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
private class Right<B: _Persistable, C: _Persistable>: Object {
  @Persisted var next: Right<B, C>?
  @Persisted var c: C
  @Persisted(indexed: true) var id: String
  @Persisted var b: B
  override class func _realmObjectName() -> String? { "Thing" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Tests with random pairs of classes and random objects. A migration must give the result of a model of the rules.
@Suite struct RandomMigrationTests {
  private struct Thing {
    var id: Int
    var a: Content
    var b: Content
    var next: Int?
  }

  private func left<A: Filling, B: Filling>(_ a: A.Type, _ b: B.Type) -> Object.Type { Left<A, B>.self }
  private func right<B: Filling, C: Filling>(_ b: B.Type, _ c: C.Type) -> Object.Type { Right<B, C>.self }

  @Test(arguments: 0..<(Slow.count(60, slow: 2_000)))
  func `random objects of random classes are migrated by the rules of the guide`(_ seed: Int) throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    let shapes = (0..<4).map { _ in Shape.allCases.randomElement(using: &generator)! }
    let (a, b, newB, c) = (shapes[0], shapes[1], shapes[2], shapes[3])
    let (old, new) = (left(a.type, b.type), right(newB.type, c.type))
    let count = Int.random(in: 0...40, using: &generator)
    var things = (0..<count).map { id in
      Thing(
        id: id, a: .random(a, &generator), b: .random(b, &generator),
        next: Bool.random(using: &generator) ? Int.random(in: 0..<count, using: &generator) : nil)
    }
    let file = TemporaryFile()
    try autoreleasing {
      let realm = try opened(Realm.Configuration(fileURL: file.url, objectTypes: [old]))
      try realm.write {
        for thing in things {
          realm.dynamicCreate("Thing", value: ["id": thing.id, "a": thing.a.any, "b": thing.b.any])
        }
        for thing in things {
          guard let next = thing.next else { continue }
          realm.dynamicObject(ofType: "Thing", forPrimaryKey: thing.id)?["next"] =
            realm.dynamicObject(ofType: "Thing", forPrimaryKey: next)
        }
      }
    }
    // The block may rename `a` to `c`, deletes some objects and adds others.
    let renames = Bool.random(using: &generator)
    let removed = Set((0..<count).filter { _ in Int.random(in: 0..<5, using: &generator) == 0 })
    let added = Int.random(in: 0...3, using: &generator)
    let block: MigrationBlock = { migration, _ in
      if renames { migration.renameProperty(onType: "Thing", from: "a", to: "c") }
      migration.enumerateObjects(ofType: "Thing") { old, new in
        guard let id = old?["id"] as? Int, let new else { return }
        if removed.contains(id) { migration.delete(new) }
      }
      for number in 0..<added { migration.create("Thing", value: ["id": "new\(number)"]) }
    }
    things.removeAll { removed.contains($0.id) }
    let report = try Realm.dryRunMigration(
      for: Realm.Configuration(fileURL: file.url, schemaVersion: 1, migrationBlock: block, objectTypes: [new])
    )
    #expect(report.classes.map(\.before) == [count] && report.classes.map(\.after) == [things.count + added])
    try autoreleasing {
      let realm = try opened(
        Realm.Configuration(fileURL: file.url, schemaVersion: 1, migrationBlock: block, objectTypes: [new]))
      let found = Array(realm.dynamicObjects("Thing"))
      #expect(found.count == things.count + added)
      for (thing, object) in zip(things, found) {
        #expect(object["id"] as? String == "\(thing.id)")
        #expect(Content(object["b"]) == thing.b.converted(to: newB), "\(b) to \(newB): \(thing.b)")
        let empty = Content.none.converted(to: c)
        #expect(
          Content(object["c"]) == (renames ? thing.a.converted(to: c) : empty), "\(a) to \(c): \(thing.a)")
        let next = thing.next.flatMap { removed.contains($0) ? nil : "\($0)" }
        #expect((object["next"] as? DynamicObject)?["id"] as? String == next)
        #expect(realm.dynamicObjects("Thing").filter("id == %@", "\(thing.id)").count == 1)
      }
      for (number, object) in found.suffix(added).enumerated() {
        #expect(object["id"] as? String == "new\(number)")
      }
      try realm.verify()
    }
  }
}
