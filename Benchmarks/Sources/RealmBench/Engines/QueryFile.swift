/// A file for queries. It has Persons with more indexes than in other workloads, notes with lists of texts, and humans
/// with lists of links to dogs.
protocol QueryFile: AnyObject {
  /// Adds all objects and the indexes in one durable transaction.
  func fill(_ inputs: QueryInputs) throws
  /// Reads the names of the Persons who were created in each range. Dates are indexed.
  ///
  /// - Parameter asTwo: whether the query has two comparisons for the range instead of one condition.
  func list(createdIn ranges: [ClosedRange<Int64>], asTwo: Bool) throws -> Answer
  /// Reads the ages of the Persons whose names begin with each prefix. Names are indexed.
  func list(namedFrom prefixes: [String]) throws -> Answer
  /// Reads the ids of the Persons with an age, which is indexed, and a rank.
  ///
  /// - Parameter areBothIndexed: whether the rank is indexed, too. If not, the query uses a column with the same values
  ///   and no index.
  func list(_ pairs: [(age: Int64, rank: Int64)], areBothIndexed: Bool) throws -> Answer
  /// Lists the Persons of each age and reads nothing of them. Returns how many there are; nil if the engine can't do
  /// this.
  func list(ages: [Int64]) throws -> Int?
  /// Counts the notes with a tag.
  func countNotes(tagged tag: String) throws -> Int
  /// Counts the humans who have at least this many dogs older than an age.
  func countHumans(withDogs count: Int, olderThan age: Int64) throws -> Int
  /// Counts the titles that contain a part, by bytes or without regard to case and diacritics; the result is nil if the
  /// engine can't ignore diacritics.
  ///
  /// - Parameter areAccented: whether to count in the titles of which a tenth have accents.
  func countTitles(containing part: String, isFolded: Bool, areAccented: Bool) throws -> Int?
  /// Reads the text of ten conditions and prepares them for running.
  func prepareConditions() throws
  func close() throws
}

extension Contender {
  /// Opens the engine's file for queries; the result is nil for an engine that does not take part.
  func openQueries(in folder: String, count: Int) throws -> (any QueryFile)? {
    switch kind {
    case .realmStorage: try StorageQueries(folder: folder, isEncrypted: isEncrypted)
    case .realmObjects: try ObjectsQueries(folder: folder, isEncrypted: isEncrypted)
    case .sqlite: try SQLiteQueries(folder: folder, count: count)
    case .grdb, .lmdb: nil
    }
  }
}
