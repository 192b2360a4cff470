import RealmStorage

/// A query of a client's file, and what the app knows about it.
///
/// Two subscriptions are equal if all their texts have the same bytes, because queries compare texts in this way, too.
package struct StoredSubscription: Sendable, Equatable {
  package var id: SixteenBytes
  package var name: String?
  package var table: String
  /// The predicate in Realm's query language; empty for all objects of the class.
  package var predicate: String
  /// The times at which the subscription was added and last changed, in milliseconds since 1970.
  package var createdAt: UInt64
  package var updatedAt: UInt64

  package init(
    id: SixteenBytes, name: String?, table: String, predicate: String, createdAt: UInt64, updatedAt: UInt64
  ) {
    (self.id, self.name, self.table, self.predicate) = (id, name, table, predicate)
    (self.createdAt, self.updatedAt) = (createdAt, updatedAt)
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.id == right.id && left.createdAt == right.createdAt && left.updatedAt == right.updatedAt
      && left.isNamed(right.name) && left.asks(right.table, right.predicate)
  }

  /// True if the subscription has this name; nil stands for a subscription without a name.
  package func isNamed(_ name: String?) -> Bool {
    switch (self.name, name) {
    case (let own?, let name?): own.utf8.elementsEqual(name.utf8)
    default: self.name == nil && name == nil
    }
  }

  /// True if the subscription has this class and predicate.
  package func asks(_ table: String, _ predicate: String) -> Bool {
    self.table.utf8.elementsEqual(table.utf8) && self.predicate.utf8.elementsEqual(predicate.utf8)
  }
}

/// The subscriptions of a query set.
package struct StoredSubscriptionSet: Sendable, Equatable {
  /// The reason why the server can't use the set.
  package struct Refusal: Sendable, Equatable {
    package var code: UInt32
    package var text: String

    package init(code: UInt32, text: String) { (self.code, self.text) = (code, text) }
  }

  /// The number of the query set; 0 for a file that never had one.
  package var number: UInt64
  /// The subscriptions in the order in which the app has added them.
  package var subscriptions: [StoredSubscription]
  package var refusal: Refusal?

  package init(number: UInt64, subscriptions: [StoredSubscription] = [], refusal: Refusal? = nil) {
    (self.number, self.subscriptions, self.refusal) = (number, subscriptions, refusal)
  }
}

/// The state of the subscriptions of a query set.
package enum StoredSubscriptionState: Sendable, Equatable {
  /// The server has not answered, or its answer is not completely in the file yet.
  case pending
  /// The set is in force: the file shows the objects that match it.
  case complete
  /// A newer set is in force.
  case superseded
  case refused(code: UInt32, text: String)
}

// MARK: - Bytes

extension StoredSubscription {
  /// Reads a subscription; nil for bytes that are not one.
  fileprivate init?(_ reader: inout ByteReader) {
    guard let id = reader.bytes(16), let flags = reader.integer(UInt8.self), flags < 2 else { return nil }
    var name: String?
    if flags == 1 {
      guard let text = reader.text() else { return nil }
      name = text
    }
    guard let table = reader.text(), let predicate = reader.text(), let createdAt = reader.varint(),
      let updatedAt = reader.varint()
    else { return nil }
    self.init(
      id: SixteenBytes(Array(id)), name: name, table: table, predicate: predicate, createdAt: createdAt,
      updatedAt: updatedAt)
  }

  fileprivate func append(to bytes: inout [UInt8]) {
    bytes += id.bytes
    bytes.append(name == nil ? 0 : 1)
    if let name { ValueCoding.append(name, to: &bytes) }
    ValueCoding.append(table, to: &bytes)
    ValueCoding.append(predicate, to: &bytes)
    bytes.appendVarint(createdAt)
    bytes.appendVarint(updatedAt)
  }
}

extension StoredSubscriptionSet {
  /// The set with a number, from its bytes in a file; nil if they are damaged.
  init?(number: UInt64, bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard let flags = reader.integer(UInt8.self), flags < 2 else { return nil }
    var refusal: Refusal?
    if flags == 1 {
      guard let code = reader.integer(UInt32.self), let text = reader.text() else { return nil }
      refusal = Refusal(code: code, text: text)
    }
    guard let count = reader.varint(), count <= UInt64(reader.count) else { return nil }
    var subscriptions: [StoredSubscription] = []
    for _ in 0..<count {
      guard let subscription = StoredSubscription(&reader) else { return nil }
      subscriptions.append(subscription)
    }
    guard reader.isAtEnd else { return nil }
    self.init(number: number, subscriptions: subscriptions, refusal: refusal)
  }

  /// The bytes of the set without its number.
  var bytes: [UInt8] {
    var bytes: [UInt8] = [refusal == nil ? 0 : 1]
    if let refusal {
      bytes.appendInteger(refusal.code)
      ValueCoding.append(refusal.text, to: &bytes)
    }
    bytes.appendVarint(UInt64(subscriptions.count))
    for subscription in subscriptions { subscription.append(to: &bytes) }
    return bytes
  }
}
