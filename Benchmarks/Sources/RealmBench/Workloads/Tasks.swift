/// A task of a Person. It is an object with a link to another object and a list.
struct Task {
  /// The primary key.
  var id: Int64
  /// The title, of three words out of 500.
  var title: String
  /// The priority, 0 to 9.
  var priority: Int64
  /// The id of a Person, who may have any number of tasks.
  var owner: Int64
  /// The tags, three words out of 500.
  var tags: [String]
}

/// Makes Tasks from a seed, one after another.
struct TaskSource: Sequence, IteratorProtocol {
  private var random = SplitMix64(seed: 16)
  private let count: Int
  private let people: Int
  private var made = 0

  /// - Parameter people: the number of Persons that can own tasks.
  init(count: Int, people: Int) {
    self.count = count
    self.people = people
  }

  mutating func next() -> Task? {
    guard made < count else { return nil }
    defer { made += 1 }
    return Task(
      id: Int64(made), title: word() + " " + word() + " " + word(), priority: Int64(random.next(below: 10)),
      owner: Int64(random.next(below: people)), tags: [word(), word(), word()])
  }

  private mutating func word() -> String { Words.all[random.next(below: Words.all.count)] }
}
