import Foundation
import RealmStorage
import RealmSyncClient

/// A list of subscriptions that the block of an update changes.
struct SubscriptionDraft {
  /// The subscriptions before the block.
  private let base: [StoredSubscription]
  private(set) var list: [StoredSubscription]
  /// The time of the changes, in milliseconds since 1970.
  private let now = UInt64(max(0, Date().timeIntervalSince1970 * 1000))

  init(_ base: [StoredSubscription]) { (self.base, list) = (base, base) }

  private func place(_ id: SixteenBytes) -> Int? { list.firstIndex { $0.id == id } }
  private func place(named name: String) -> Int? { list.firstIndex { $0.isNamed(name) } }
  private func place(unnamed query: SubscriptionQuery) -> Int? {
    list.firstIndex { $0.name == nil && $0.asks(query.table, query.predicate) }
  }

  /// Adds a subscription at the end. A subscription without a name is not added if another one without a name asks for the same
  /// objects.
  ///
  /// - Returns: false if another subscription has the name; otherwise true.
  mutating func add(_ query: SubscriptionQuery, named name: String?) -> Bool {
    if let name, place(named: name) != nil { return false }
    if name == nil, place(unnamed: query) != nil { return true }
    list.append(
      StoredSubscription(
        id: UUID().sixteenBytes, name: name, table: query.table, predicate: query.predicate, createdAt: now,
        updatedAt: now))
    return true
  }

  /// Makes the subscription with a name ask for a query; adds one if there is none. If the name is nil, it adds a subscription
  /// without a name, unless one asks for the same objects already.
  ///
  /// - Returns: the id of the subscription.
  mutating func assign(_ query: SubscriptionQuery, named name: String?) -> SixteenBytes? {
    if let name, let place = place(named: name) {
      set(query, at: place)
      return list[place].id
    }
    guard add(query, named: name) else { return nil }
    return (name == nil ? place(unnamed: query) : list.indices.last).map { list[$0].id }
  }

  /// Makes a subscription ask for another query. A subscription with a name keeps its position, one without a name moves to the
  /// end.
  ///
  /// - Returns: whether there is such a subscription.
  mutating func change(_ id: SixteenBytes, to query: SubscriptionQuery) -> Bool {
    guard let place = place(id) else { return false }
    guard list[place].name == nil, !list[place].asks(query.table, query.predicate) else {
      set(query, at: place)
      return true
    }
    var changed = list.remove(at: place)
    guard self.place(unnamed: query) == nil else { return true }
    (changed.table, changed.predicate, changed.updatedAt) = (query.table, query.predicate, now)
    list.append(changed)
    return true
  }

  /// Gives a subscription another name.
  ///
  /// - Returns: false if another subscription has the name; otherwise true.
  mutating func rename(_ id: SixteenBytes, _ name: String) -> Bool {
    guard let place = place(id) else { return true }
    if list[place].isNamed(name) { return true }
    guard self.place(named: name) == nil else { return false }
    (list[place].name, list[place].updatedAt) = (name, now)
    return true
  }

  private mutating func set(_ query: SubscriptionQuery, at place: Int) {
    guard !list[place].asks(query.table, query.predicate) else { return }
    (list[place].table, list[place].predicate) = (query.table, query.predicate)
    list[place].updatedAt = now
  }

  mutating func removeAll(where isGone: (StoredSubscription) -> Bool) { list.removeAll(where: isGone) }

  /// Removes the first subscription that matches a condition.
  mutating func removeFirst(where isGone: (StoredSubscription) -> Bool) {
    if let place = list.firstIndex(where: isGone) { list.remove(at: place) }
  }

  // MARK: - Others' changes

  /// The newest subscriptions with the changes of this draft applied. Another process or thread may have changed them since the
  /// draft was made.
  func applied(to newest: [StoredSubscription]) -> [StoredSubscription] {
    if newest == base { return list }
    let before = Dictionary(base.map { ($0.id, $0) }) { first, _ in first }
    let kept = Set(list.map(\.id))
    var merged = newest.filter { before[$0.id] == nil || kept.contains($0.id) }
    for subscription in list where before[subscription.id] != subscription {
      let place = merged.firstIndex { other in
        if other.id == subscription.id { return true }
        guard other.isNamed(subscription.name) else { return false }
        return subscription.name != nil || other.asks(subscription.table, subscription.predicate)
      }
      if let place { merged[place] = subscription } else { merged.append(subscription) }
    }
    return merged
  }
}

extension UUID {
  fileprivate var sixteenBytes: SixteenBytes {
    guard case .uuid(let bytes) = _value else { preconditionFailure("the value of a UUID is one") }
    return bytes
  }
}
