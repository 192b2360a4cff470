/// What a program asks of all Persons, and changes of many at once.
///
/// Answers do not depend on the order in which equals come, so that those of two engines can be compared.
protocol Questions {
  func countAll() throws -> Int
  /// Counts active Persons above an age; neither is indexed.
  func countActive(olderThan age: Int64) throws -> Int
  /// Counts by a text that is not indexed.
  func count(email: String) throws -> Int
  /// Counts names that have a part, as bytes or with A to Z like a to z.
  func count(nameContaining part: String, ignoringCase: Bool) throws -> Int
  /// Counts ids, the primary key, that are among some.
  func count(ids: [Int64]) throws -> Int
  /// Counts ages, not indexed, that are among some.
  func count(ages: [Int64]) throws -> Int
  /// Age and name of the first by age and name, 100 of them.
  ///
  /// - Parameter asksForAll: the query is for all, and no more than these are read of it; else it has a limit.
  func firstByAgeAndName(asksForAll: Bool) throws -> Answer
  func sumAndAverage() throws -> (scores: Double, age: Double)
  /// The id of an active Person, the first that the engine finds; nil of an engine that is not asked.
  func firstActive() throws -> Int64?
  /// The cities of the first 100 Persons by city, which is indexed; nil of an engine that is not asked.
  func firstByCity() throws -> Answer?

  /// Adds 1 to the score of each Person, in one durable transaction.
  func raiseScores() throws
  /// Deletes all Persons who are not active, in one durable transaction.
  func deleteInactive() throws
}

/// The first by age and name, of which each engine reads as many.
struct FirstByAgeAndName {
  static let count = 100
  private var hash = RowHash()

  mutating func add(age: Int64, _ name: String) {
    hash.add(age)
    hash.add(name)
  }

  mutating func add(age: Int64, _ name: UnsafeRawBufferPointer) {
    hash.add(age)
    hash.add(name)
  }

  /// In their order: two that are exchanged make another answer.
  var answer: Answer {
    var answer = Answer()
    answer.add(hash)
    return answer
  }
}

extension Questions {
  func firstActive() throws -> Int64? { nil }
  func firstByCity() throws -> Answer? { nil }
}
