/// The promise of a commit when it returns.
enum Promise {
  /// The commit survives a loss of power.
  case durable
  /// The commit survives the death of the process.
  case relaxed
}

/// An engine that makes small commits, one after another.
protocol Committing: AnyObject {
  /// The promise of the next commits. If the engine has no relaxed commits, they are durable.
  var promise: Promise { get set }
  /// The bytes that the engine has written so far; nil if it does not tell.
  var written: WrittenBytes? { get }
}

/// A storage engine with a file of Persons, in a folder of its own.
///
/// Each engine does a workload the way its own documentation recommends. Statements are prepared once, and a workload
/// that reads does so in one read transaction. Answers are sums that do not depend on the order of the rows, so that
/// the answers of two engines can be compared.
protocol Engine: Committing, Questions, TaskQuestions {
  /// Adds all Persons in one durable transaction to a file that has none.
  func insertAll(_ source: inout PersonSource) throws

  /// Reads the name and age of the Persons with these ids.
  func lookUp(_ ids: [Int64]) throws -> Answer
  /// Does the same by asking for many Persons at once; the result is nil if the engine can't do this.
  func lookUpTogether(_ ids: [Int64]) throws -> Answer?
  /// Reads the name, age and score of all Persons.
  func iterate() throws -> Answer
  /// Does the same and makes a String of each name; the result is nil for an engine that does not take part.
  func iterateStrings() throws -> Answer?
  /// Counts the Persons of an age by testing each Person, because age is not indexed.
  func count(age: Int64) throws -> Int
  /// The sum of the numbers of Persons in each city, by one count for each city.
  func count(cities: [String]) throws -> Int
  /// Reads all values of all Persons.
  func readEverything() throws -> Answer

  /// Whether the engine has commits that are cheaper than durable ones and survive the death of the process.
  var hasRelaxedCommits: Bool { get }
  /// Brings the file into the state in which small commits find it while a program runs, if a file that was just opened
  /// has another state. The content does not change.
  func prepareSmallCommits() throws
  /// Changes scores of existing Persons in one commit.
  func setScores(_ changes: ArraySlice<ScoreChange>) throws
  /// Makes such changes from many threads at once. Each thread waits until the commit with its change is durable.
  func commitFromThreads(_ changes: [[ScoreChange]]) throws -> Committers.Times
  /// Adds one Person in one commit.
  func insert(_ person: Person) throws

  /// Changes a score in one commit, and asks the engine what the commit changed.
  ///
  /// - Returns: the time of the question in seconds; nil if the engine can't answer it.
  func timeToFind(_ change: ScoreChange) throws -> Double?

  /// Begins a reader, which sees the present content until `unpin`.
  func pin() throws
  /// The sum of all scores that the pinned reader sees.
  func readPinned() throws -> Answer
  func unpin() throws

  /// Writes a copy that is as small as the engine can make it. Returns false if the engine can't make one.
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

/// The bytes that an engine has written, by their kinds.
struct WrittenBytes {
  /// The bytes of changed nodes. Nodes that were only moved are counted in `moved`.
  var nodes: Int
  var moved: Int
  var meta: Int
  var growth: Int
}
