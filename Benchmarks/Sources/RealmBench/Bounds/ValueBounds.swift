import Foundation

/// Measures copying the values of Persons and sorting them.
struct ValueBounds {
  let count: Int

  func all(_ rounds: Int) throws -> [Bound] {
    let texts = PersonTexts(count: count)
    return [
      Bound("1", "the texts and numbers of all Persons copied to one place", "ms", rounds: rounds) {
        texts.copied()
      },
      Bound("1", "their ids known by a hash table: is one there twice?", "ms", rounds: rounds) {
        Self.known(count) * 1e3
      },
      Bound(
        "9, 17", "10,000 times both ends of a range looked for among as many sorted numbers", "ms",
        rounds: rounds
      ) {
        searched()
      },
      Bound("1, 10", "as many numbers at random sorted, by the standard library", "ms", rounds: rounds) {
        Self.sorted(count) * 1e3
      },
      Bound(
        "10", "ages and names sorted by the standard library, of names their first 15 bytes", "ms",
        rounds: rounds
      ) {
        var keys = texts.sortKeys
        return Measure.seconds { keys.sort() } * 1e3
      },
      Bound("3", "an object of a class made and given back, with a name made a String", "ns", rounds: rounds)
      {
        texts.objects()
      },
    ]
      + [count, 10 * count].flatMap { count in
        [
          Bound("F3", "an id made known to a hash table, of \(count) in all", "ns", rounds: min(rounds, 3)) {
            Self.known(count) / Double(count) * 1e9
          },
          Bound(
            "F3", "an id sorted, by the standard library, of \(count) in all", "ns", rounds: min(rounds, 3)
          ) {
            Self.sorted(count) / Double(count) * 1e9
          },
        ]
      }
  }

  private static func ids(_ count: Int) -> [UInt64] {
    var source = SplitMix64(seed: 42)
    return (0..<count).map { _ in source.next() }
  }

  /// The time for inserting random ids into a set, in seconds.
  private static func known(_ count: Int) -> Double {
    let ids = ids(count)
    var known = Set<UInt64>(minimumCapacity: count)
    return Measure.seconds { for id in ids { known.insert(id) } }
  }

  /// The time for sorting random ids, in seconds.
  private static func sorted(_ count: Int) -> Double {
    var ids = ids(count)
    return Measure.seconds { ids.sort() }
  }

  private func searched() -> Double {
    let numbers = (0..<count).map { $0 * 2 }
    var random = SplitMix64(seed: 17)
    let sought = (0..<10_000).map { _ in random.next(below: 2 * count - 2_000) }
    var sum = 0
    let seconds = Measure.seconds {
      for low in sought { sum += lowerBound(low + 2_000, numbers) - lowerBound(low, numbers) }
    }
    precondition(sum == sought.count * 1_000)
    return seconds * 1e3
  }

  private func lowerBound(_ number: Int, _ numbers: [Int]) -> Int {
    var (low, high) = (0, numbers.count)
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// The values of Persons, made before the measurement.
private struct PersonTexts {
  private var people: [Person] = []

  init(count: Int) {
    var source = PersonSource(count: count)
    while let batch = source.next() { people += batch }
  }

  func copied() -> Double {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(people.count * 200)
    return Measure.seconds {
      for person in people {
        for text in [person.name, person.email, person.city] { bytes.append(contentsOf: text.utf8) }
        if let bio = person.bio { bytes.append(contentsOf: bio.utf8) }
        for number in [person.id, person.age, person.created, Int64(bitPattern: person.score.bitPattern)] {
          withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) }
        }
        bytes.append(person.active ? 1 : 0)
      }
    } * 1e3
  }

  /// The time for an object and a String of its name, in nanoseconds. No engine of objects can do without them for an
  /// object that it returns.
  func objects() -> Double {
    let names = people.prefix(100_000).map { Array($0.name.utf8) }
    var sum = 0
    let seconds = Measure.seconds {
      for name in names {
        let handle = Handle(name.count)
        sum &+= handle.number &+ String(decoding: name, as: UTF8.self).utf8.count
      }
    }
    precondition(sum > 0)
    return seconds / Double(names.count) * 1e9
  }

  private final class Handle {
    let number: Int
    private let more = (0, 0, 0)

    @inline(never)
    init(_ number: Int) { self.number = number }
  }

  /// The age in the first byte, followed by the first 15 bytes of the name.
  var sortKeys: [UInt128] {
    people.map { person in
      var key = UInt128(truncatingIfNeeded: person.age)
      var rest = person.name.utf8.prefix(15).makeIterator()
      for _ in 0..<15 { key = key << 8 | UInt128(rest.next() ?? 0) }
      return key
    }
  }
}
