/// Questions about all Persons, and changes of many Persons at once.
///
/// Answers do not depend on the order of equal elements, so that the answers of two engines can be compared.
protocol Questions {
  func countAll() throws -> Int
  /// Counts the active Persons above an age. Neither property is indexed.
  func countActive(olderThan age: Int64) throws -> Int
  /// Counts the Persons with a text that is not indexed.
  func count(email: String) throws -> Int
  /// Counts the names that contain a part, by bytes or without a difference between A to Z and a to z.
  func count(nameContaining part: String, ignoringCase: Bool) throws -> Int
  /// Counts the Persons whose id, the primary key, is one of these.
  func count(ids: [Int64]) throws -> Int
  /// Counts the Persons whose age, which is not indexed, is one of these.
  func count(ages: [Int64]) throws -> Int
  /// Reads the ages and names of the first 100 Persons by age and name.
  ///
  /// - Parameter asksForAll: whether the query has no limit. Then only the first 100 of its results are read.
  func firstByAgeAndName(asksForAll: Bool) throws -> Answer
  func sumAndAverage() throws -> (scores: Double, age: Double)
  /// The id of the first active Person that the engine finds; nil for an engine that does not take part.
  func firstActive() throws -> Int64?
  /// Reads the cities of the first 100 Persons by city, which is indexed; the result is nil for an engine that does not
  /// take part.
  func firstByCity() throws -> Answer?

  /// Adds 1 to the score of each Person, in one durable transaction.
  func raiseScores() throws
  /// Deletes all Persons who are not active, in one durable transaction.
  func deleteInactive() throws
}

/// The first Persons by age and name. Each engine reads the same number of them.
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

  /// The answer depends on the order, so that two exchanged Persons change it.
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
