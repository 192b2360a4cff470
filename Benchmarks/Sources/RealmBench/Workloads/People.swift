/// The object that all workloads store.
///
/// A million of them have 104 bytes of content each on average: name 11.7, email 25.6, city 10.6, bio 29.9, numbers 26.
struct Person {
  /// The primary key.
  var id: Int64
  /// The name, of two words out of 500.
  var name: String
  /// The email. No two Persons have the same one. It is not indexed.
  var email: String
  /// The age, 0 to 99.
  var age: Int64
  var score: Double
  var active: Bool
  /// The time of creation in seconds since 1970.
  var created: Int64
  /// One of 1,000 cities. It is indexed.
  var city: String
  /// A text of about 60 characters; nil in half of the Persons.
  var bio: String?
}

/// Random numbers that are the same on every machine and with every version of the standard library.
struct SplitMix64 {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// A number in `0..<bound`.
  mutating func next(below bound: Int) -> Int { Int(next().multipliedFullWidth(by: UInt64(bound)).high) }

  /// A number in `0..<1`, with all bits of its fraction random.
  mutating func nextFraction() -> Double { Double(next() >> 11) * 0x1p-53 }
}

/// The texts that Persons are made of.
enum Words {
  /// 500 distinct words of about 5 letters; one of them is `River`.
  static let all: [String] = {
    let syllables = [
      "ba", "be", "bo", "da", "de", "di", "fa", "fe", "ga", "go", "ha", "he", "ka", "ki", "ko", "la", "le",
      "lo", "ma", "me", "mi", "mo", "na", "ne", "no", "pa", "pe", "ra", "re", "ro", "sa", "se", "so", "ta",
      "te", "to", "va", "ve", "wi", "za",
    ]
    let endings = ["", "", "n", "r", "s", "l", "nd", "st"]
    var random = SplitMix64(seed: 7)
    var words = ["River"]
    var known = Set(words)
    while words.count < 500 {
      var word = ""
      for _ in 0..<2 + random.next(below: 6) / 5 { word += syllables[random.next(below: syllables.count)] }
      word += endings[random.next(below: endings.count)]
      word = word.prefix(1).uppercased() + word.dropFirst()
      if known.insert(word).inserted { words.append(word) }
    }
    return words
  }()

  static let cities: [String] = {
    var random = SplitMix64(seed: 11)
    var cities: [String] = []
    var known: Set<String> = []
    while cities.count < 1_000 {
      let city = all[random.next(below: all.count)] + all[random.next(below: all.count)].lowercased()
      if known.insert(city).inserted { cities.append(city) }
    }
    return cities
  }()
}

/// Makes Persons from a seed, one after another.
struct PersonGenerator {
  private var random: SplitMix64

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  mutating func next(id: Int64) -> Person {
    let first = word()
    let last = word()
    return Person(
      id: id, name: first + " " + last, email: "\(first).\(last).\(id)@ex.com",
      age: Int64(random.next(below: 100)), score: random.nextFraction() * 1_000,
      active: random.next(below: 2) == 0, created: 1_500_000_000 + Int64(random.next(below: 200_000_000)),
      city: Words.cities[random.next(below: Words.cities.count)],
      bio: random.next(below: 2) == 0 ? nil : biography())
  }

  private mutating func word() -> String { Words.all[random.next(below: Words.all.count)] }

  private mutating func biography() -> String {
    var text = word()
    while text.utf8.count < 57 {
      text += " "
      text += word()
    }
    return text
  }
}

/// The Persons of a bulk insert in batches, so that they are never all in memory at once.
struct PersonSource {
  private static let batch = 1_000
  private let ids: [UInt32]
  private var position = 0
  private var generator = PersonGenerator(seed: 42)
  /// The time for making and releasing the batches in seconds, which does not count as the engine's time.
  private(set) var seconds = 0.0
  /// The last batch that was returned. It is released when the next one is asked for.
  private var last: [Person] = []

  /// Persons with the ids `0..<count`, in an order that is as good as random.
  init(count: Int) {
    var ids = (0..<UInt32(count)).map { $0 }
    var random = SplitMix64(seed: 42)
    for index in stride(from: count - 1, to: 0, by: -1) { ids.swapAt(index, random.next(below: index + 1)) }
    self.ids = ids
  }

  /// The next Persons; nil after the last.
  mutating func next() -> [Person]? {
    let start = ContinuousClock.now
    defer { seconds += (ContinuousClock.now - start) / .seconds(1) }
    last = []
    guard position < ids.count else { return nil }
    let batch = ids[position..<min(position + Self.batch, ids.count)]
    last = batch.map { generator.next(id: Int64($0)) }
    position = batch.endIndex
    return last
  }
}
