import Foundation
import RealmSwift
import Testing

// Functions as generic code has them.
private func draft<T: Object>(_ type: T.Type) -> T { T() }
private func drawn<T: Object>(_ type: T.Type) -> T { type.init() }
private func part<T: EmbeddedObject>(_ type: T.Type) -> T { T() }
private func dynamic(_ type: Object.Type) -> Object { type.init() }
private func filled<T: Object>(_ type: T.Type, _ value: Any) -> T { T(value: value) }
private final class Store<T: Object> {
  func fresh() -> T { T.init() }
  func many(_ count: Int) -> [T] { (0..<count).map { _ in T() } }
}
private protocol Fixture: Object {}
extension Fixture {
  static func fixture() -> Self { Self() }
}

// Classes of all forms.
private class PlainMade: Object, Fixture {
  @Persisted var x = 5
  class func fresh() -> Self { Self() }
}
private class WithOverride: Object {
  @Persisted var x: Int
  let own: Int
  override init() {
    own = 3
    super.init()
    x = 4
  }
  convenience init(x: Int) {
    self.init()
    self.x = x
  }
}
private class WithRequired: Object {
  @Persisted var x = 6
  required override init() { super.init() }
}
private class WithDefault: Object {
  @Persisted var x = 0
  convenience init(x: Int = 9) {
    self.init()
    self.x = x
  }
}
private class WithDesignated: Object {
  @Persisted var x = 0
  init(x: Int) {
    super.init()
    self.x = x
  }
  override init() { super.init() }
}
private class Coded: Object, Codable { @Persisted var x = 7 }
private class DecodedByHand: Object, Decodable {
  @Persisted var x = 0
  required convenience init(from decoder: any Decoder) throws {
    self.init()
    x = try decoder.singleValueContainer().decode(Int.self)
  }
}
private class Below: PlainMade { @Persisted var y = 8 }
private class Generic<Content: _Persistable>: Object { @Persisted var content: Content }
private class Piece: EmbeddedObject { @Persisted var x = 2 }

@Suite struct GenericInitTests {
  @Test func `generic code makes objects of every form of class`() throws {
    #expect(draft(PlainMade.self).x == 5 && drawn(PlainMade.self).x == 5 && Store<PlainMade>().fresh().x == 5)
    #expect(draft(WithOverride.self).x == 4 && draft(WithOverride.self).own == 3)
    #expect(draft(WithRequired.self).x == 6 && drawn(WithDefault.self).x == 0 && WithDefault().x == 0)
    #expect(draft(WithDesignated.self).x == 0 && draft(Coded.self).x == 7 && draft(DecodedByHand.self).x == 0)
    #expect(draft(Below.self).y == 8 && draft(Below.self).x == 5 && draft(Generic<String>.self).content == "")
    #expect(part(Piece.self).x == 2 && PlainMade.fixture().x == 5 && Below.fixture().y == 8)
    #expect(type(of: Below.fresh()) == Below.self)
    #expect(Store<Below>().many(3).map(\.y) == [8, 8, 8])
    #expect(filled(Below.self, ["x": 1, "y": 2]).y == 2 && draft(PlainMade.self).realm == nil)
    #expect(Set(Store<PlainMade>().many(3).map { ObjectIdentifier($0) }).count == 3)
  }

  @Test func `a type that is known only at run time makes its own objects`() throws {
    let types: [Object.Type] = [PlainMade.self, Below.self, WithOverride.self, Coded.self, Generic<Int>.self]
    for type in types {
      #expect(Swift.type(of: dynamic(type)) == type && Swift.type(of: type.init(value: [:])) == type)
    }
    let realm = try memoryRealm([Below.self])
    try realm.write {
      let one = draft(Below.self)
      one.y = 11
      realm.add(one)
    }
    #expect(realm.objects(Below.self).first?.y == 11)
  }

  @Test func `code that names a class calls the initializers of that class`() {
    #expect(
      PlainMade().x == 5 && WithOverride().own == 3 && WithOverride(x: 1).x == 1
        && WithDesignated(x: 2).x == 2)
    #expect([1, 2].map { _ in PlainMade() }.count == 2 && [[:], [:]].map(PlainMade.init(value:)).count == 2)
    let make: () -> PlainMade = PlainMade.init
    #expect(make().x == 5 && PlainMade(value: ["x": 3]).x == 3)
  }
}
