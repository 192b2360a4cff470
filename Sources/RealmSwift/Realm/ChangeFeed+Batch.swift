public import Foundation
import RealmStorage
import Synchronization

extension ChangeFeed {
  /// The changes between two versions, object by object.
  public struct Batch: Sendable {
    /// The changes in the order of their classes. For each class, deleted objects come first, then modified ones, then inserted
    /// ones.
    public let changes: [Change]
    /// The number of the version that has the changes.
    public let version: UInt64
    /// Whether the batch tells of objects that were there when the token was first used.
    public let isFirst: Bool
    private let feed: ChangeFeed
    /// The version that has the changes; nil if more batches of this version follow.
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

    /// The changes of the objects of one class.
    public func changes<T: ObjectBase>(of type: T.Type) -> [Change] {
      let name = ObjectModel.of(type).name
      return changes.filter { $0.object.className == name }
    }

    /// Moves the token to this batch, so that the batch is not told again. The feed does this itself when it is asked for the
    /// next batch. Of the batches that tell the first objects, only the last one moves the token. A token that was dropped, or
    /// that is at a later batch, stays as it is.
    ///
    /// - Precondition: this thread has no open write transaction: the call commits by itself, and would wait for that
    ///   transaction.
    /// - Throws: `Realm.Error` if the commit fails.
    public func acknowledge() throws { _ = try moveToken() }

    /// Moves the token to this batch. Returns false if the token was dropped.
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

  /// A change of one object.
  public struct Change: Sendable, Equatable {
    /// What happened to the object between the two versions.
    public enum Kind: Sendable {
      /// The object was inserted, has other values, or was deleted.
      case inserted, modified, deleted
    }

    /// What happened to the object.
    public let kind: Kind
    /// The object that changed.
    public let object: ObjectID
    /// All properties if the object was inserted or deleted, else those that differ.
    public internal(set) var properties: [Property]

    /// The value that a property has in the newer version; nil if it did not change, is a collection of which elements changed,
    /// or the object was deleted.
    ///
    /// - Parameter name: the name of the property in the program's class.
    public func value(_ name: String) -> Value? {
      guard case .value(_, let new)? = properties.first(where: { $0.name == name })?.difference else {
        return nil
      }
      return new
    }
  }

  /// Identifies an object. An object without a primary key, such as an embedded one, has only the number in `key`.
  public struct ObjectID: Sendable, Hashable {
    /// The name of the object's class in the file.
    public let className: String
    /// The value of the primary key; nil if the class has none.
    public let primaryKey: Value?
    /// A number that no other object of the class in this file has, even after this one is deleted.
    public let key: UInt64

    /// The object in a realm; nil if the realm does not have it any more.
    ///
    /// - Precondition: `type` is the class of the object.
    public func object<T: Object>(of type: T.Type, in realm: Realm) -> T? { realm.object(type, key: key) }
  }

  /// A property that differs between the versions.
  public struct Property: Sendable, Equatable {
    /// The name of the property in the program's class; that of the column if the class does not have the property.
    public let name: String
    /// How the property differs.
    public let difference: Difference

    /// How a property differs.
    public enum Difference: Sendable, Equatable {
      /// The whole value. `old` is nil if the object was inserted, `new` is nil if it was deleted.
      case value(old: Value?, new: Value?)
      /// Changes of the elements of a list, set or map, in their order. Each change refers to the collection as the changes
      /// before it left it.
      case elements([ElementChange])
    }
  }

  /// A change of the elements of a collection.
  public enum ElementChange: Sendable, Equatable {
    /// These elements were inserted into a list. The first of them is at the index.
    case inserted([Value], at: Int)
    /// These elements were removed from a list. The first of them was at the index.
    case removed([Value], at: Int)
    /// An element of a list was replaced.
    case replaced(old: Value, new: Value, at: Int)
    /// These elements were added to a set.
    case added([Value])
    /// These elements were removed from a set.
    case subtracted([Value])
    /// A key of a map was given a value. `old` is nil if the key is new.
    case set(key: String, old: Value?, new: Value)
    /// A key was removed from a map.
    case removedKey(String, old: Value)
  }

  /// A value. It is a copy and needs no realm.
  public enum Value: Sendable, Hashable {
    /// Nil.
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
    /// A link to an object.
    indirect case object(ObjectID)
    /// The elements of a list, or those of a set in their order.
    indirect case list([Value])
    /// The values of a map, by their keys.
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
