/// A change of one Person's score.
struct ScoreChange {
  var id: Int64
  var score: Double
}

/// The inputs of the workloads. They are the same for all engines and in each round.
struct Inputs {
  /// The sizes of the inputs.
  struct Sizes {
    var lookups = 1_000_000
    var cityCounts = 10_000
    var inValues = 10_000
    /// The commits of each workload of small commits.
    var commits = 2_000
    var churn = 100_000
    /// The commits after which the engine is asked what they changed.
    var changeSets = 200
    /// The Persons whose Tasks are counted.
    var owners = 100_000
    /// The commits of many threads, all threads together.
    var threadCommits = 4_000
    /// The records of the file of workload 20, and the commits made there while a reader is pinned.
    var records = 100_000
    var pinnedCommits = 10_000
    /// The records of the file of 20p, which have 1 GiB together, and the commits of all its processes.
    var processRecords = 1 << 20
    var processCommits = 10_000
    /// The number of rows used for a million rows in workloads on growing tables.
    var million = 1_000_000
    /// The pairs of keys and values of the bulk load, and the commits after it.
    var pairs = 5_000_000
    var pairCommits = 1_000
    var pairBatches = 100
    var relaxedPairs = 50_000
    var pairReads = 1_000_000
    var pairScans = 500_000
    /// The owners of lists. The long list has a million elements.
    var listOwners = 100_000
    /// The commits of each workload on long lists.
    var listCommits = 1_000
    /// The reads of elements at random by engines that find elements by their places, and by engines that pass all
    /// elements before them.
    var listReads = 1_000_000
    var listPasses = 500
    /// The texts that are looked up in a set and in a map.
    var memberLookups = 100_000

    static let quick = Sizes(
      commits: 500, churn: 5_000, threadCommits: 800, records: 100_000, pinnedCommits: 2_000,
      processRecords: 1 << 16, processCommits: 500, million: 50_000, pairs: 200_000, pairCommits: 200,
      pairBatches: 10,
      relaxedPairs: 2_000, pairReads: 200_000, pairScans: 50_000, listOwners: 10_000, listCommits: 200,
      memberLookups: 10_000)
  }

  let count: Int
  let sizes: Sizes
  let lookups: [Int64]
  let cities: [String]
  /// The email of one Person.
  let email: String
  /// Distinct ids in no order. Half of them are ids of Persons.
  let ids: [Int64]
  /// Distinct ages in no order. Half of all ages are among them.
  let ages: [Int64]
  let owners: [Int64]

  init(count: Int, sizes: Sizes = Sizes()) {
    self.count = count
    self.sizes = sizes
    var random = SplitMix64(seed: 3)
    lookups = (0..<sizes.lookups).map { _ in Int64(random.next(below: count)) }
    cities = (0..<sizes.cityCounts).map { _ in Words.cities[random.next(below: Words.cities.count)] }
    var source = PersonSource(count: count)
    email = source.next()?.last?.email ?? ""
    // An odd factor that has no common factor with the modulus reaches each number once.
    ids = (0..<sizes.inValues).map { Int64($0 * 7_919 % sizes.inValues * (2 * count / sizes.inValues)) }
    owners = (0..<sizes.owners).map { _ in Int64(random.next(below: count)) }
    ages = (0..<sizes.inValues).map { Int64($0 * 7_919 % sizes.inValues * 2) }
  }

  /// Random changes. Each workload has its own seed.
  func changes(_ number: Int, seed: UInt64) -> [ScoreChange] {
    var random = SplitMix64(seed: seed)
    return (0..<number).map { _ in
      ScoreChange(id: Int64(random.next(below: count)), score: random.nextFraction() * 1_000)
    }
  }

  /// The changes of several threads. No two threads change the same Person, so the result does not depend on their
  /// order.
  func changes(_ number: Int, threads: Int, seed: UInt64) -> [[ScoreChange]] {
    var random = SplitMix64(seed: seed)
    return (0..<threads).map { thread in
      (0..<number / threads).map { _ in
        ScoreChange(
          id: Int64(random.next(below: count / threads) * threads + thread),
          score: random.nextFraction() * 1_000)
      }
    }
  }

  /// Persons that follow those of the bulk insert and `before` others.
  func newcomers(_ number: Int, after before: Int, seed: UInt64) -> [Person] {
    var generator = PersonGenerator(seed: seed)
    return (0..<number).map { generator.next(id: Int64(count + before + $0)) }
  }
}
