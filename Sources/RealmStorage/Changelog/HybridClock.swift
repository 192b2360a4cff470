/// When a changeset was made: milliseconds since 1970 in 48 bits, and a counter in 16 that tells apart what was made within one, or after what others have made later.
package struct Stamp: Sendable, Hashable, Comparable {
  package var word: UInt64

  package init(word: UInt64) { self.word = word }

  /// - Parameter milliseconds: since 1970; of a time beyond 48 bits, the last that there is.
  package init(milliseconds: UInt64) { word = min(milliseconds, Self.latest) << 16 }

  private static let latest: UInt64 = 1 << 48 - 1

  package var milliseconds: UInt64 { word >> 16 }

  /// The next one. The last one of all has none.
  package var next: Stamp { Stamp(word: word == .max ? word : word + 1) }

  package static func < (left: Stamp, right: Stamp) -> Bool { left.word < right.word }
}

/// The clock of a replica: it runs with the time of its machine, and never behind what it has seen of others (Kulkarni and others, "Logical Physical Clocks and Consistent Snapshots in
/// Globally Distributed Databases", 2014).
///
/// The last writer of a value wins by its stamp. So what was written without a connection counts from when it was written, and what a replica has seen it can always
/// write over, however slow its clock.
package struct HybridClock: Sendable, Equatable {
  /// The last stamp that was given, or seen.
  package private(set) var last: Stamp
  /// The milliseconds that are added to the time of the machine. The server tells them at the beginning of a session; they are a day at most either way.
  package private(set) var offset: Int64

  package static let mostOffset: Int64 = 86_400_000
  static let offsets = -mostOffset...mostOffset

  package init(last: Stamp = Stamp(word: 0), offset: Int64 = 0) {
    self.last = last
    self.offset = min(max(offset, -Self.mostOffset), Self.mostOffset)
  }

  /// Takes the offset that the server tells at the beginning of a session.
  package mutating func learn(offset: Int64) { self = HybridClock(last: last, offset: offset) }

  /// The stamp of a changeset that is made now, later than all that were given or seen.
  ///
  /// - Parameter time: of the machine, in milliseconds since 1970.
  package mutating func stamp(at time: UInt64) -> Stamp {
    last = max(last.next, Stamp(milliseconds: corrected(time)))
    return last
  }

  /// Takes in the greatest stamp of what was received. Answers false, and changes nothing, for one that lies more than a day ahead: no server sends it.
  package mutating func receive(_ mark: Stamp, at time: UInt64) -> Bool {
    guard mark.milliseconds <= corrected(time) + UInt64(Self.mostOffset) else { return false }
    last = max(last, mark)
    return true
  }

  private func corrected(_ time: UInt64) -> UInt64 {
    let time = min(time, 1 << 48)
    return offset < 0 ? time - min(time, offset.magnitude) : time + offset.magnitude
  }
}

extension Stamp {
  /// A stamp may lie so far ahead of its arrival, in milliseconds.
  private static let mostAhead: UInt64 = 10_000

  /// The stamp by which a changeset is decided: a clock that runs ahead counts as the order of arrival, and what the writer has seen is always older.
  ///
  /// - Parameters:
  ///   - arrival: when the changeset came to the server, in milliseconds since 1970.
  ///   - mark: the greatest stamp of all that was decided before.
  ///   - seen: the greatest of what the writer had seen.
  ///   - own: the last one of the same replica.
  package func decided(arrival: UInt64, mark: Stamp, seen: Stamp, own: Stamp) -> Stamp {
    var decided = self
    if self > Stamp(milliseconds: min(arrival, 1 << 48) + Self.mostAhead) {
      decided = max(mark.next, Stamp(milliseconds: arrival))
    }
    return max(decided, seen.next, own.next)
  }
}
