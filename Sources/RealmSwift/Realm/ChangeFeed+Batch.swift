public import Foundation
import RealmStorage
import Synchronization

extension ChangeFeed {
  /// What changed between two versions, object by object.
  public struct Batch: Sendable {
    /// In the order of their classes; of a class those that went, those that differ, and those that came.
    public let changes: [Change]
    /// The number of the version that has the changes.
    public let version: UInt64
    /// The objects were there when the token was first used.
    public let isFirst: Bool
    private let feed: ChangeFeed
    /// Nil where more of the same version is to come.
    private let snapshot: Snapshot?
    private let acknowledged = Acknowledged()
    var isLast: Bool { snapshot != nil }

    private final class Acknowledged: Sendable { let isDone = Mutex(false) }

    init(_ feed: ChangeFeed, _ changes: [Change], _ snapshot: Snapshot, isFirst: Bool, isLast: Bool = true) {
      self.feed = feed
      self.changes = changes
      self.isFirst = isFirst
      version = snapshot.version
      self.snapshot = isLast ? snapshot : nil
    }

    /// The changes of the objects of a class.
    public func changes<T: ObjectBase>(of type: T.Type) -> [Change] {
      let name = ObjectModel.of(type).name
      return changes.filter { $0.object.className == name }
    }

    /// Moves the token to this batch, so that it is not told again. The feed does so when it is asked for the next batch. Of the objects there were at
    /// first only the last batch moves it. A token that was dropped, or is at a later batch, stays as it is.
    ///
    /// - Precondition: this thread has no open write transaction: the call commits by itself, and would wait for it.
    /// - Throws: `Realm.Error` of the commit.
    public func acknowledge() throws { _ = try moveToken() }

    /// Answers false where the token was dropped.
    func moveToken() throws -> Bool {
      guard let snapshot, !acknowledged.isDone.withLock({ $0 }) else { return true }
      return try Realm.Error.wrapping { () throws(StorageError) in
        let kept = try feed.database.namedVersions().first { $0.name == feed.token.name }
        guard isFirst || kept != nil else { return false }
        if (kept?.version ?? 0) < version {
          try feed.database.keepVersion(of: snapshot, named: feed.token.name)
        }
        acknowledged.isDone.withLock { $0 = true }
        return true
      }
    }
  }

  /// A change of an object.
  public struct Change: Sendable, Equatable {
    public enum Kind: Sendable {
      case inserted, modified, deleted
    }

    public let kind: Kind
    public let object: ObjectID
    /// Of an object that was inserted or deleted all properties, else those that differ.
    public internal(set) var properties: [Property]

    /// The value of a property now; nil where it did not change, or the object was deleted.
    public func value(_ name: String) -> Value? {
      guard case .value(_, let new)? = properties.first(where: { $0.name == name })?.difference else {
        return nil
      }
      return new
    }
  }

  /// Says which object it is. An object without a primary key, as an embedded one, is told by a number that no other object of the class gets.
  public struct ObjectID: Sendable, Hashable {
    public let className: String
    public let primaryKey: Value?
    /// Given once in the file.
    public let key: UInt64

    /// The object in a realm; nil where that has none any more.
    ///
    /// - Precondition: the class is that of the object.
    public func object<T: Object>(of type: T.Type, in realm: Realm) -> T? { realm.object(type, key: key) }
  }

  /// A property that differs.
  public struct Property: Sendable, Equatable {
    public let name: String
    public let difference: Difference

    public enum Difference: Sendable, Equatable {
      /// Nil of an object that was inserted, or deleted.
      case value(old: Value?, new: Value?)
      /// Changes of elements of a list, set or map, each of what those before it left.
      case elements([ElementChange])
    }
  }

  /// A change of a collection.
  public enum ElementChange: Sendable, Equatable {
    case inserted([Value], at: Int)
    case removed([Value], at: Int)
    case replaced(old: Value, new: Value, at: Int)
    case added([Value])
    case subtracted([Value])
    case set(key: String, old: Value?, new: Value)
    case removedKey(String, old: Value)
  }

  /// A value, which is a copy: it needs no realm.
  public enum Value: Sendable, Hashable {
    case none
    case bool(Bool)
    case int(Int64)
    case float(Float)
    case double(Double)
    case string(String)
    case data(Data)
    case date(Date)
    case objectId(ObjectId)
    case decimal128(Decimal128)
    case uuid(UUID)
    indirect case object(ObjectID)
    /// Also the elements of a set, in their order.
    indirect case list([Value])
    indirect case dictionary([String: Value])
  }
}

extension Realm {
  fileprivate func object<T: Object>(_ type: T.Type, key: UInt64) -> T? {
    session.check()
    let context = session.context(type)
    let isThere = reading { () throws(StorageError) in
      if session.isWriting { return try session.writable(context.binding)?.contains(key) ?? false }
      return try context.currentTable()?.contains(key) ?? false
    }
    return isThere ? context.object(key) as? T : nil
  }
}
