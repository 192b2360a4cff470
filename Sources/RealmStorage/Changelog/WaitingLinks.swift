/// The waiting links of a set or a map in memory, which are its links to objects that are not in the file. A link is
/// found in O(1).
final class WaitingLinks {
  /// The links in the order in which they were added. An entry is nil if its link was removed.
  private var links: [AbsentLink?]
  private var places: [AbsentLink: Int] = [:]
  var isChanged = false

  init(_ links: [AbsentLink]) {
    self.links = links
    for (place, link) in links.enumerated() { places[link.name] = place }
  }

  var all: [AbsentLink] { links.compactMap { $0 } }

  /// The link with the same key, or to the same object.
  func find(_ link: AbsentLink) -> AbsentLink? { places[link.name].flatMap { links[$0] } }

  func remove(_ link: AbsentLink) {
    guard let place = places.removeValue(forKey: link.name) else { return }
    links[place] = nil
    isChanged = true
  }

  /// - Precondition: there is no link with the same key, or to the same object.
  func add(_ link: AbsentLink) {
    places[link.name] = links.count
    links.append(link)
    isChanged = true
  }
}

extension AbsentLink {
  /// The part in which all links of a set or a map differ: the key in a map, the object in a set.
  fileprivate var name: AbsentLink {
    if case .key = place { AbsentLink(table: 0, primaryKey: .null, place: place) } else { self }
  }

  fileprivate func hasName(of other: AbsentLink) -> Bool { name == other.name }
}

/// Links that wait in sets and maps.
extension ObjectEditor {
  /// The waiting link with the same key, or to the same object, as another link; nil if there is none.
  func waiting(_ link: AbsentLink, in place: Place) throws(StorageError) -> AbsentLink? {
    guard place.column.canLink else { return nil }
    if let links = try collections.links(place) { return links.find(link) }
    return try place.links().first { $0.hasName(of: link) }
  }

  /// Removes the waiting link with the same key, or to the same object.
  func removeWaiting(_ link: AbsentLink, in place: Place) throws(StorageError) {
    guard place.column.canLink else { return }
    if let links = try collections.links(place) { return links.remove(link) }
    try place.changeLinks { links in links.removeAll { $0.hasName(of: link) } }
  }

  /// Removes the waiting link of a set to an object that is in the file by now. The link may not have been resolved
  /// yet.
  func removeWaiting(of value: InstructionValue, in place: Place) throws(StorageError) {
    guard case .link(let object) = value, let target = try tables.writer(object.table) else { return }
    try removeWaiting(AbsentLink(memberOf: target.schema.id, object.key), in: place)
  }

  /// Adds a link if there is no link with the same key, or to the same object.
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

  /// Writes the waiting links of a cell, or of collections in the embedded objects that it owns, to the file, before
  /// the cell is read there.
  ///
  /// - Parameter embedded: the embedded object to which this is limited, with those in it; nil for all.
  func flush(_ cell: Place, _ embedded: UInt64? = nil) throws(StorageError) {
    guard !collections.areEmpty else { return }
    try tables.knowing { () throws(StorageError) in
      try tables.deriving { () throws(StorageError) in try collections.flush(cell, embedded) }
    }
  }
}
