/// What a commit promises when it returns.
enum Promise {
  /// It survives power loss.
  case durable
  /// It survives the death of the process.
  case relaxed
}

/// What makes small commits, one after another.
protocol Committing: AnyObject {
  /// What the next commits promise; a durable commit where the engine has no other.
  var promise: Promise { get set }
  /// What it has written so far; nil where the engine does not tell.
  var written: WrittenBytes? { get }
}

/// A storage engine with a file of Persons, in a folder of its own.
///
/// Each engine does a workload the way its own documentation would: statements are prepared once, and a workload that
/// reads does so in one read transaction. Answers are sums that do not depend on the order of the rows, so that those
/// of two engines can be compared.
protocol Engine: Committing, Questions, TaskQuestions {
  /// Adds all Persons in one durable transaction to a file that has none.
  func insertAll(_ source: inout PersonSource) throws

  /// Reads name and age of the Persons with these ids.
  func lookUp(_ ids: [Int64]) throws -> Answer
  /// The same, where the engine can be asked for many at once; nil where it can't.
  func lookUpTogether(_ ids: [Int64]) throws -> Answer?
  /// Reads name, age and score of all.
  func iterate() throws -> Answer
  /// The same with each name made a String; nil of an engine that is not asked.
  func iterateStrings() throws -> Answer?
  /// Counts by looking at each Person: age is not indexed.
  func count(age: Int64) throws -> Int
  /// The sum of the counts of Persons of each city, one count a city.
  func count(cities: [String]) throws -> Int
  /// Reads every value of all Persons.
  func readEverything() throws -> Answer

  /// Whether there are commits that are cheaper than durable ones and survive the death of the process.
  var hasRelaxedCommits: Bool { get }
  /// Brings the file into the state that small commits find it in while a program runs, where that is not the state
  /// of a file just opened. Changes no content.
  func prepareSmallCommits() throws
  /// Changes scores in one commit. The ids exist.
  func setScores(_ changes: ArraySlice<ScoreChange>) throws
  /// The same from many threads at once, each change in a commit that is durable when its thread goes on.
  func commitFromThreads(_ changes: [[ScoreChange]]) throws -> Committers.Times
  /// Adds one Person in one commit.
  func insert(_ person: Person) throws

  /// Changes a score in one commit, and asks the engine what that changed.
  ///
  /// Answers how long the asking took, in seconds; nil where the engine has no such thing.
  func timeToFind(_ change: ScoreChange) throws -> Double?

  /// Begins a reader, which goes on seeing the content of now until `unpin`.
  func pin() throws
  /// The sum of all scores, as the pinned reader sees them.
  func readPinned() throws -> Answer
  func unpin() throws

  /// Writes a copy that is as small as the engine can make it; nil where it has no such thing.
  func compacted(at path: String) throws -> Bool
  func close() throws
}

extension Engine {
  var written: WrittenBytes? { nil }

  func lookUpTogether(_ ids: [Int64]) throws -> Answer? { nil }
  func iterateStrings() throws -> Answer? { nil }

  func timeToFind(_ change: ScoreChange) throws -> Double? {
    try setScores([change][...])
    return nil
  }
}

/// What an engine has written, by what it is.
struct WrittenBytes {
  /// Of what was changed; what was only moved stands apart.
  var nodes: Int
  var moved: Int
  var meta: Int
  var growth: Int
}
