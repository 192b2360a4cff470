import Foundation
import RealmSwift
import Synchronization
import RealmTestSupport
import Testing

private class Link: Object, Codable {
  @Persisted var number: Int
  @Persisted var next: Link?
  @Persisted var all: List<Link>
  @Persisted var map: Map<String, Link?>
  @Persisted var set: MutableSet<Link>
  @Persisted var any: AnyRealmValue
  @Persisted var anys: List<AnyRealmValue>

  enum CodingKeys: String, CodingKey { case number, next, all }
}
/// A link that counts its living instances.
private class CountedLink: Object {
  @Persisted var next: CountedLink?
  let token = Token()

  final class Token {
    static let alive = Mutex(0)
    init() { Self.alive.withLock { $0 += 1 } }
    deinit { Self.alive.withLock { $0 -= 1 } }
  }
}

/// Runs `body` on a thread with the smallest stack that systems give threads.
private func onSmallStack(_ body: @escaping @Sendable () throws -> Void) throws {
  let failure = Mutex<(any Error)?>(nil)
  let done = DispatchSemaphore(value: 0)
  let thread = Thread {
    do { try autoreleasing { try body() } } catch { failure.withLock { $0 = error } }
    done.signal()
  }
  thread.stackSize = 512 << 10
  thread.start()
  done.wait()
  if let error = failure.withLock({ $0 }) { throw error }
}

@Suite struct DepthTests {
  /// Dictionaries that are nested in dictionaries. The innermost one is made first. The system frees them with nested
  /// calls.
  private static func nested(_ depth: Int, by name: String, list: Bool = false) -> Any {
    var value: [String: Any] = ["number": 0]
    for level in 1..<depth {
      value = ["number": level, name: list ? [value] as Any : value as Any]
    }
    return value
  }

  @Test func `values nested 500 deep make objects on a small stack`() throws {
    try onSmallStack {
      for (name, list) in [("next", false), ("all", true), ("set", true)] {
        // In lists each level has two containers, which the system frees with nested calls.
        let value = Self.nested(500, by: name, list: list)
        let realm = try memoryRealm([Link.self])
        try realm.write {
          let made = realm.create(Link.self, value: value)
          #expect(made.number == 499 && realm.objects(Link.self).count == 500)
          let again = Link(value: value)
          #expect(again.number == 499)
          again[name] = list ? [value] as Any : value
          realm.add(again)
          made[name] = list ? [value] as Any : value
        }
        #expect(realm.objects(Link.self).count == 1501)
      }
    }
  }

  @Test func `values of any type may be nested 100 deep on a small stack, and no deeper`() throws {
    try onSmallStack {
      let realm = try memoryRealm([Link.self])
      for list in [true, false] {
        var value: Any = 1
        for _ in 0..<100 { value = list ? [value] : ["a": value] }
        try realm.write {
          let link = realm.create(
            Link.self, value: ["any": value, "anys": [value]].filter { $0.key == "any" })
          let copy = realm.create(Link.self, value: link)
          #expect(copy.any != .none && Link(value: link).any != .none && !link.description.isEmpty)
          link.any = copy.any
        }
      }
    }
  }

  @Test func `long chains are added, copied and freed on a small stack`() throws {
    try onSmallStack {
      let count = 30_000
      func chain(_ join: (Link, Link) -> Void) -> Link {
        var first = Link()
        for _ in 1..<count {
          let link = Link()
          join(link, first)
          first = link
        }
        return first
      }
      let joins: [(Link, Link) -> Void] = [
        { $0.next = $1 }, { $0.all.append($1) }, { $0.map["a"] = $1 }, { $0.set.insert($1) },
        { $0.any = .object($1) }, { $0.any = .fromArray([.object($1)]) }, { $0.anys.append(.object($1)) },
        { $0["next"] = $1 }, { $0["all"] = [$1] },
      ]
      for (index, join) in joins.enumerated() {
        do { _ = chain(join) }
        if index.isMultiple(of: 3) {
          let realm = try memoryRealm([Link.self])
          try realm.write {
            let first = chain(join)
            realm.create(Link.self, value: first)
            realm.add(first)
          }
          #expect(realm.objects(Link.self).count == 2 * count)
        }
      }
      // Lists are nested in dictionaries, and the reverse, without objects.
      var value = AnyRealmValue.int(1)
      for index in 0..<count {
        value = index.isMultiple(of: 2) ? .fromArray([value]) : .fromDictionary(["a": value])
      }
      value = .none
    }
  }

  @Test func `each object of a chain is freed once, and those with other references stay`() throws {
    try onSmallStack {
      let before = CountedLink.Token.alive.withLock { $0 }
      var kept: [CountedLink] = []
      for _ in 0..<3 {
        var first = CountedLink()
        for index in 1..<5000 {
          let link = CountedLink()
          link.next = first
          first = link
          if index == 2500 { kept.append(link) }
        }
      }
      #expect(CountedLink.Token.alive.withLock { $0 } - before == 3 * 2501)
      kept = []
      #expect(CountedLink.Token.alive.withLock { $0 } == before)
    }
  }

  @Test func `a nesting too deep for the stack is an error of coding`() throws {
    try onSmallStack {
      var link = Link()
      for _ in 0..<20_000 {
        let next = Link()
        next.next = link
        link = next
      }
      #expect(throws: EncodingError.self) { try JSONEncoder().encode(link) }
      for depth in [20, 100, 200] {
        let text =
          String(repeating: #"{"number":1,"all":[],"next":"#, count: depth) + #"{"number":2,"all":[]}"#
          + String(repeating: "}", count: depth)
        do {
          let decoded = try JSONDecoder().decode(Link.self, from: Data(text.utf8))
          #expect(decoded.number == 1)
        } catch {
          #expect(depth > 20 && error is DecodingError, "\(depth): \(error)")
        }
      }
    }
  }
}

extension MisuseTests {
  @Test func `values of any type that nest too deep to be stored stop the program by name`() {
    expectStop(["Invalid value", "100 deep"]) {
      var value: Any = 1
      for _ in 0..<400 { value = [value] }
      Link()["any"] = value
    }
    expectStop(["Invalid value", "100 deep"]) {
      let list = List<AnyRealmValue>()
      list.append(.list(list))
      let realm = try memoryRealm([Link.self])
      try realm.write { realm.create(Link.self, value: ["any": list]) }
    }
  }
}
