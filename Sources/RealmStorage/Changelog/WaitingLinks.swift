/// The links of a set or a map to objects that are not there, in memory. Each is found in O(1).
final class WaitingLinks {
  /// In the order in which they came. Nil of those that were removed.
  private var links: [AbsentLink?]
  private var places: [AbsentLink: Int] = [:]
  var isChanged = false

  init(_ links: [AbsentLink]) {
    self.links = links
    for (place, link) in links.enumerated() { places[link.name] = place }
  }

  var all: [AbsentLink] { links.compactMap { $0 } }

  /// That of the same key, or to the same object.
  func find(_ link: AbsentLink) -> AbsentLink? { places[link.name].flatMap { links[$0] } }

  func remove(_ link: AbsentLink) {
    guard let place = places.removeValue(forKey: link.name) else { return }
    links[place] = nil
    isChanged = true
  }

  /// - Precondition: there is none of the same key, or to the same object.
  func add(_ link: AbsentLink) {
    places[link.name] = links.count
    links.append(link)
    isChanged = true
  }
}

extension AbsentLink {
  /// What no two links of a set or a map share: of a map the key, of a set the object.
  fileprivate var name: AbsentLink {
    if case .key = place { AbsentLink(table: 0, primaryKey: .null, place: place) } else { self }
  }

  fileprivate func hasName(of other: AbsentLink) -> Bool { name == other.name }
}

/// Links that wait in sets and maps.
extension ObjectEditor {
  /// The link that waits in the place of another one: of the same key, or to the same object.
  func waiting(_ link: AbsentLink, in place: Place) throws(StorageError) -> AbsentLink? {
    guard place.column.canLink else { return nil }
    if let links = try collections.links(place) { return links.find(link) }
    return try place.links().first { $0.hasName(of: link) }
  }

  /// Removes such a link.
  func removeWaiting(_ link: AbsentLink, in place: Place) throws(StorageError) {
    guard place.column.canLink else { return }
    if let links = try collections.links(place) { return links.remove(link) }
    try place.changeLinks { links in links.removeAll { $0.hasName(of: link) } }
  }

  /// Removes the link of a set to an object that has come, where the link has not found it yet.
  func removeWaiting(of value: InstructionValue, in place: Place) throws(StorageError) {
    guard case .link(let object) = value, let target = try tables.writer(object.table) else { return }
    try removeWaiting(AbsentLink(memberOf: target.schema.id, object.key), in: place)
  }

  /// Adds a link, where there is no such link.
  func addWaiting(_ link: AbsentLink, in place: Place) throws(StorageError) {
    guard place.column.canLink else { return }
    if let links = try collections.links(place) {
      if links.find(link) == nil { links.add(link) }
      return
    }
    try place.changeLinks { links in
      if !links.contains(where: { $0.hasName(of: link) }) { links.append(link) }
    }
  }

  /// Puts into the file what waits in a cell, or in embedded objects that it owns, before it is read as it stands there.
  ///
  /// - Parameter embedded: the one that is meant, with those in it; nil for all.
  func flush(_ cell: Place, _ embedded: UInt64? = nil) throws(StorageError) {
    guard !collections.areEmpty else { return }
    try tables.knowing { () throws(StorageError) in
      try tables.deriving { () throws(StorageError) in try collections.flush(cell, embedded) }
    }
  }
}
