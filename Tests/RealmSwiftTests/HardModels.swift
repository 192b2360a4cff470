import Foundation
import RealmSwift
import Synchronization

/// A class with a primary key, and with links through which an update reaches other objects.
class Node: Object {
  @Persisted(primaryKey: true) var key: String
  @Persisted var note = "none"
  @Persisted var next: Node?
  @Persisted var others: List<Node>
  @Persisted(originProperty: "others") var holders: LinkingObjects<Node>
  @Persisted(originProperty: "next") var previous: LinkingObjects<Node>

  convenience init(_ key: String, note: String = "none") {
    self.init()
    self.key = key
    self.note = note
  }
}

/// A class whose key may be nil.
class Keyed: Object {
  @Persisted(primaryKey: true) var key: Int?
  @Persisted var note = ""
}

class ShortKeyed: Object {
  @Persisted(primaryKey: true) var key: Int8
}

/// A class with links to a class that has a subclass.
class BaseHolder: Object {
  @Persisted var base: Base?
  @Persisted var bases: List<Base>
}

/// A class with a computed property before the stored ones.
class Target: Object {
  @Persisted(originProperty: "target") var sources: LinkingObjects<Source>
  @Persisted var name: String
  @Persisted var count: Int
}
class Source: Object {
  @Persisted var target: Target?
}

class GenericBase<Content: _Persistable>: Object {
  @Persisted var content: Content
}
class OfText: GenericBase<String> {
  @Persisted var extra = 3
}
class OfNumber: GenericBase<Int> {}

/// A class whose properties have names that are also used for other things.
class Names: Object {
  @Persisted var `class`: Int
  @Persisted var `self`: Int
  @Persisted var größe: Int
  @Persisted var 名前: String
  @Persisted var newValue: Int
  @Persisted var row: Int
  @Persisted var context: String
  @Persisted var _under: Int
}

class Observed: Object {
  @Persisted var number: Int {
    willSet { log.append("will \(newValue)") }
    didSet { log.append("did \(oldValue)") }
  }
  var log: [String] = []
}

enum Level: Int, PersistableEnum {
  case low = 1, high = 2
}
class Levelled: Object {
  @Persisted var level: Level
  @Persisted var maybe: Level?
  @Persisted var all: List<Level>
}

/// A class that counts its instances for each thread that made some, because other tests make instances at the same
/// time.
class Counted: Object {
  @Persisted var name: String
  @Persisted var next: Counted?
  @Persisted var all: List<Counted>
  let token = Token()

  final class Token {
    private static let counts = Mutex<[ObjectIdentifier: Int]>([:])
    private let thread = ObjectIdentifier(Thread.current)

    /// The number of living instances that this thread made.
    static var alive: Int { counts.withLock { $0[ObjectIdentifier(Thread.current)] ?? 0 } }

    init() { Self.counts.withLock { $0[thread, default: 0] += 1 } }
    deinit { Self.counts.withLock { $0[thread, default: 0] -= 1 } }
  }
}

/// A class whose link has a value from the beginning.
class Starter: Object {
  @Persisted(primaryKey: true) var key: Int
  @Persisted var note = ""
  @Persisted var dog: Dog? = Dog(value: ["name": "default"])
}

/// A class whose initializer asks a realm for the next key.
class Numbered: Object {
  @Persisted(primaryKey: true) var key: Int
  @Persisted var note = ""
  nonisolated(unsafe) static var isCounting = false

  override class func shouldIncludeInDefaultSchema() -> Bool { false }
  override init() {
    super.init()
    if Self.isCounting { note = description }
  }
}

class MappedWrong: Object {
  @Persisted var title: String
  override class func propertiesMapping() -> [String: String] { ["titel": "name"] }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}

class MappedTwice: Object {
  @Persisted var title: String
  @Persisted var name: String
  override class func propertiesMapping() -> [String: String] { ["title": "name"] }
  override class func shouldIncludeInDefaultSchema() -> Bool { false }
}
