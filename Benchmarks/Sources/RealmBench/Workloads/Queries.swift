/// A Person in the file for queries, with properties that other workloads do not need.
struct Member {
  var person: Person
  /// The rank, 0 to 99, as good as random.
  var rank: Int64
  /// The name. In each tenth Person, each e has an acute accent.
  var accented: String
}

/// A human in the same file, with the ages of 0 to 4 dogs. Each dog is 0 to 15 years old.
struct Human {
  var name: String
  var dogs: [Int64]
}

/// The content and the questions of the workloads on queries. They are the same for all engines and in each round.
struct QueryInputs {
  /// The number of Persons, all of whom are members.
  let count: Int
  /// Ranges of times in seconds since 1970. In each range about 1,000 Persons were created.
  let ranges: [ClosedRange<Int64>]
  /// Prefixes of names. About 200 of a million names begin with each of them.
  let prefixes: [String]
  /// Pairs of an age and a rank. A hundredth of all Persons have the age, and a hundredth have the rank.
  let pairs: [(age: Int64, rank: Int64)]
  /// A tag that one of 170 lists has.
  let tag = "River"
  let part = "River"
  /// A part in other letters than the names have. It is the same text if case and diacritics do not count.
  let foldedPart = "rïvér"

  /// The number of objects with a list of three texts.
  var notes: Int { count / 5 }
  /// The number of owners of dogs.
  var humans: Int { count / 10 * 3 }

  private static let created: (first: Int64, seconds: Int) = (1_500_000_000, 200_000_000)

  init(count: Int) {
    self.count = count
    var random = SplitMix64(seed: 51)
    let width = min(Self.created.seconds, Self.created.seconds / count * 1_000)
    ranges = (0..<100).map { _ in
      let first = Self.created.first + Int64(random.next(below: Self.created.seconds - width + 1))
      return first...first + Int64(width - 1)
    }
    prefixes = Words.all.prefix(100).map { $0 + " M" }
    pairs = (0..<100).map { (Int64($0), Int64(random.next(below: 100))) }
  }

  func forEachMember(_ body: (Member) throws -> Void) rethrows {
    var source = PersonSource(count: count)
    var random = SplitMix64(seed: 52)
    var place = 0
    while let people = source.next() {
      for person in people {
        let hasAccents = place % 10 == 0
        let accented = hasAccents ? String(person.name.map { $0 == "e" ? "é" : $0 }) : person.name
        try body(Member(person: person, rank: Int64(random.next(below: 100)), accented: accented))
        place += 1
      }
    }
  }

  func forEachHuman(_ body: (Human) throws -> Void) rethrows {
    var random = SplitMix64(seed: 53)
    for _ in 0..<humans {
      let name = Words.all[random.next(below: Words.all.count)]
      let dogs = (0..<random.next(below: 5)).map { _ in Int64(random.next(below: 16)) }
      try body(Human(name: name, dogs: dogs))
    }
  }

  /// The tags of each note.
  func forEachNote(_ body: ([String]) throws -> Void) rethrows {
    for task in TaskSource(count: notes, people: count) { try body(task.tags) }
  }

  /// Ten conditions in Realm's query language, and the same conditions for SQLite.
  static let conditions = """
    age > 20 AND age <= 80 AND rank != 7 AND rank IN {1, 2, 3} AND name BEGINSWITH "River" \
    AND title CONTAINS "de" AND id >= 1000 AND id < 900000 AND (age == 42 OR rank == 9)
    """
  static let statement = """
    SELECT id FROM Member WHERE age > 20 AND age <= 80 AND rank != 7 AND rank IN (1, 2, 3) AND name GLOB 'River*' \
    AND instr(title, 'de') > 0 AND id >= 1000 AND id < 900000 AND (age = 42 OR rank = 9)
    """
}
