/// The time at which a changeset was made: milliseconds since 1970 in 48 bits, and a counter in 16 bits. The counter
/// tells apart the stamps within one millisecond, and the stamps that follow a greater stamp of another replica.
package struct Stamp: Sendable, Hashable, Comparable {
  package var word: UInt64

  package init(word: UInt64) { self.word = word }

  /// - Parameter milliseconds: the time since 1970. A time beyond 48 bits counts as the latest time of 48 bits.
  package init(milliseconds: UInt64) { word = min(milliseconds, Self.latest) << 16 }

  private static let latest: UInt64 = 1 << 48 - 1

  package var milliseconds: UInt64 { word >> 16 }

  /// The next stamp. The greatest stamp of all is its own next one.
  package var next: Stamp { Stamp(word: word == .max ? word : word + 1) }

  package static func < (left: Stamp, right: Stamp) -> Bool { left.word < right.word }
}

/// The clock of a replica. It follows the time of its machine and is never behind a stamp that it has seen from others
/// (Kulkarni and others, "Logical Physical Clocks and Consistent Snapshots in Globally Distributed Databases", 2014).
///
/// The last writer of a value wins by its stamp. So a change that was written without a connection counts from the time
/// at which it was written. A replica can always overwrite what it has seen, however slow its clock is.
package struct HybridClock: Sendable, Equatable {
  /// The last stamp that was given or seen.
  package private(set) var last: Stamp
  /// The milliseconds that are added to the time of the machine. The server tells them at the beginning of a session.
  /// They lie within one day in either direction.
  package private(set) var offset: Int64

  package static let mostOffset: Int64 = 86_400_000
  static let offsets = -mostOffset...mostOffset

  package init(last: Stamp = Stamp(word: 0), offset: Int64 = 0) {
    self.last = last
    self.offset = min(max(offset, -Self.mostOffset), Self.mostOffset)
  }

  /// Takes over the offset that the server tells at the beginning of a session.
  package mutating func learn(offset: Int64) { self = HybridClock(last: last, offset: offset) }

  /// The stamp of a changeset that is made now. It is greater than all stamps that were given or seen.
  ///
  /// - Parameter time: the time of the machine, in milliseconds since 1970.
  package mutating func stamp(at time: UInt64) -> Stamp {
    last = max(last.next, Stamp(milliseconds: corrected(time)))
    return last
  }

  /// Takes over the greatest stamp of what was received. Returns false, and changes nothing, if the stamp lies more
  /// than a day ahead of the corrected time, because no server sends such a stamp.
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
  /// The time, in milliseconds, by which a stamp may lie ahead of its arrival.
  private static let mostAhead: UInt64 = 10_000

  /// The stamp by which a changeset is decided. If the clock of the writer runs ahead, the order of arrival counts. The
  /// result is always greater than what the writer has seen.
  ///
  /// - Parameters:
  ///   - arrival: the time at which the changeset came to the server, in milliseconds since 1970.
  ///   - mark: the greatest stamp of all changesets that were decided before.
  ///   - seen: the greatest stamp that the writer had seen.
  ///   - own: the last stamp of the same replica.
  package func decided(arrival: UInt64, mark: Stamp, seen: Stamp, own: Stamp) -> Stamp {
    var decided = self
    if self > Stamp(milliseconds: min(arrival, 1 << 48) + Self.mostAhead) {
      decided = max(mark.next, Stamp(milliseconds: arrival))
    }
    return max(decided, seen.next, own.next)
  }
}
