import Foundation
import RealmSwift

private protocol Digit { static var digit: Int { get } }
private enum D0: Digit { static var digit: Int { 0 } }
private enum D1: Digit { static var digit: Int { 1 } }
private enum D2: Digit { static var digit: Int { 2 } }
private enum D3: Digit { static var digit: Int { 3 } }
private enum D4: Digit { static var digit: Int { 4 } }
private enum D5: Digit { static var digit: Int { 5 } }
private enum D6: Digit { static var digit: Int { 6 } }
private enum D7: Digit { static var digit: Int { 7 } }
private enum D8: Digit { static var digit: Int { 8 } }
private enum D9: Digit { static var digit: Int { 9 } }

private class Numbered<A: Digit, B: Digit, C: Digit>: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text = ""
  @Persisted var number = 0
  override class func _realmObjectName() -> String? { "Class\(A.digit)\(B.digit)\(C.digit)" }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

/// Measures opening a file with a thousand classes.
enum ManyClasses {
  static func run() throws {
    let digits: [any Digit.Type] = [
      D0.self, D1.self, D2.self, D3.self, D4.self, D5.self, D6.self, D7.self, D8.self, D9.self,
    ]
    var types: [Object.Type] = []
    for a in digits { for b in digits { for c in digits { types.append(type(a, b, c)) } } }
    let place = Place()
    let configuration = Realm.Configuration(fileURL: place.url, objectTypes: types)
    let first = try seconds { _ = try Realm(configuration: configuration) }
    let again = try (0..<5).map { _ in try seconds { _ = try Realm(configuration: configuration) } }
    tell("V8 1,000 classes: a file made for them", first * 1_000, "ms")
    tell("V8 1,000 classes: their file opened", median(again) * 1_000, "ms", aim: 50)
  }

  private static func type<A: Digit, B: Digit, C: Digit>(
    _ a: A.Type, _ b: B.Type, _ c: C.Type
  ) -> Object.Type { Numbered<A, B, C>.self }
}
