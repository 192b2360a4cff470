/// The places of rows while the rows are sorted part by part. A place takes 8 bytes; nothing else grows with the number
/// of rows.
struct PlaceList: ~Copyable {
  private var places: [UInt64]

  /// The number of bits of a place. Above these bits stands the group of the place.
  private static let groupShift: UInt64 = 56
  /// The number above all places: only smaller ones can be stored.
  static let end: UInt64 = 1 << groupShift

  /// - Precondition: all places are below `end`, and no place occurs twice.
  init(_ places: consuming [UInt64]) { self.places = places }

  /// Makes a list of all places below `count`.
  init(count: Int) {
    places = [UInt64](unsafeUninitializedCapacity: count) { all, filled in
      for place in 0..<count { all[place] = UInt64(place) }
      filled = count
    }
  }

  var count: Int { places.count }

  subscript(_ index: Int) -> UInt64 { places[index] }

  /// The places at a range of indices, in an array of their own.
  func some(_ range: Range<Int>) -> [UInt64] { Array(places[range]) }

  /// Replaces the places from the index `start` on by others.
  mutating func put(_ others: [UInt64], at start: Int) {
    for (index, other) in others.enumerated() { places[start + index] = other }
  }

  /// Replaces each place by the number for which it stands.
  mutating func replaceEach(_ other: (UInt64) -> UInt64) {
    for index in places.indices { places[index] = other(places[index]) }
  }

  consuming func take() -> [UInt64] { places }

  // MARK: - Groups

  /// Stores the groups of the places from the index `start` on.
  mutating func setGroups(_ groups: [UInt8], from start: Int) {
    for (index, group) in groups.enumerated() {
      places[start + index] |= UInt64(group) << Self.groupShift
    }
  }

  /// Puts the places of each group together, the least group first, and removes the groups from the places.
  ///
  /// Within a group the places are in no order afterwards, because no memory is taken beside the places.
  ///
  /// - Parameter counts: the number of places in each group.
  mutating func gather(_ range: Range<Int>, _ counts: [Int]) {
    precondition(counts.reduce(0, +) == range.count, "as many places as are in groups")
    var next: [Int] = []
    var start = range.lowerBound
    for count in counts {
      next.append(start)
      start += count
    }
    let ends = next.dropFirst() + [range.upperBound]
    places.withUnsafeMutableBufferPointer { places in
      for (group, end) in ends.enumerated() {
        while next[group] < end {
          var place = places[next[group]]
          // Places are put where they belong, one after another, until one is found that belongs here.
          while Int(place >> Self.groupShift) != group {
            let other = Int(place >> Self.groupShift)
            let target = next[other]
            precondition(target < places.count, "a group that was not counted")
            next[other] = target &+ 1
            (place, places[target]) = (places[target], place)
          }
          places[next[group]] = place
          next[group] &+= 1
        }
      }
      for index in range { places[index] &= Self.end &- 1 }
    }
  }

  // MARK: - In order

  /// The greatest number of places that are sorted at once.
  private static let few = 1 << 18

  /// Puts the places of a range in order.
  mutating func sort(_ range: Range<Int>) {
    var rest = [range]
    while let range = rest.popLast() {
      if isSorted(range) { continue }
      guard range.count > Self.few else {
        sortFew(range)
        continue
      }
      var (least, greatest) = (UInt64.max, UInt64(0))
      for index in range {
        least = min(least, places[index])
        greatest = max(greatest, places[index])
      }
      // The highest bits of the places put them into groups, as many as a byte tells apart.
      let shift = UInt64(max(0, 56 - (greatest - least).leadingZeroBitCount))
      var counts = [Int](repeating: 0, count: 256)
      for index in range {
        let group = (places[index] - least) >> shift
        counts[Int(group)] += 1
        places[index] |= group << Self.groupShift
      }
      gather(range, counts)
      var start = range.lowerBound
      for count in counts where count > 0 {
        rest.append(start..<start + count)
        start += count
      }
    }
  }

  private func isSorted(_ range: Range<Int>) -> Bool {
    for index in range.dropFirst() where places[index &- 1] > places[index] { return false }
    return true
  }

  private mutating func sortFew(_ range: Range<Int>) {
    var numbers = NumberSort(count: range.count)
    for (index, place) in range.enumerated() { numbers.put(UInt128(places[place]), 0, at: index) }
    numbers.sort(0..<range.count)
    for (index, place) in range.enumerated() {
      places[place] = UInt64(truncatingIfNeeded: numbers.number(index))
    }
  }
}
