/// Finds the numbers in a file of the replicas that the parts of a step name.
///
/// A step seldom names more than a few, and these are looked for one by one. Where it names many, all that the file knows are put into a table
/// first: a server must not be able to make a client compare each with each.
struct ReplicaSearch {
  /// Those that are known, by the numbers of the server.
  private var places: [UInt64: UInt32] = [:]
  /// All that the file knows are in the table.
  private var isWhole = false
  private var searches = 0
  private static let mostSearches = 16

  /// The number in the file of a replica. A new one gets the next.
  mutating func place(of number: UInt64, _ position: inout ClientPosition) -> UInt32 {
    if number == 0 { return 0 }
    if !isWhole, places[number] == nil { search(for: number, position) }
    if let known = places[number] { return known }
    let place = position.add(number)
    places[number] = place
    return place
  }

  private mutating func search(for number: UInt64, _ position: ClientPosition) {
    searches += 1
    guard searches > Self.mostSearches else {
      if let known = position.replicas.firstIndex(of: number) { places[number] = UInt32(known) }
      return
    }
    isWhole = true
    for (place, number) in position.replicas.enumerated() where places[number] == nil {
      places[number] = UInt32(place)
    }
  }
}
