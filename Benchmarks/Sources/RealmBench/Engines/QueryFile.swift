/// A file that queries are asked of: Persons with more indexes than other workloads have, notes with lists of texts, and humans with
/// lists of links to dogs.
protocol QueryFile: AnyObject {
  /// Adds all in one durable transaction, and the indexes.
  func fill(_ inputs: QueryInputs) throws
  /// Reads the names of the Persons who were created in each range; dates are indexed.
  ///
  /// - Parameter asTwo: the range is two comparisons that are joined, and not one condition.
  func list(createdIn ranges: [ClosedRange<Int64>], asTwo: Bool) throws -> Answer
  /// Reads the ages of the Persons whose names begin with each prefix; names are indexed.
  func list(namedFrom prefixes: [String]) throws -> Answer
  /// Reads the ids of the Persons with an age, which is indexed, and a rank.
  ///
  /// - Parameter areBothIndexed: else the rank is looked for in a column that has the same values and no index.
  func list(_ pairs: [(age: Int64, rank: Int64)], areBothIndexed: Bool) throws -> Answer
  /// Lists the Persons of each age and reads nothing of them; answers how many there are; nil of an engine that can't.
  func list(ages: [Int64]) throws -> Int?
  /// Counts the notes with a tag.
  func countNotes(tagged tag: String) throws -> Int
  /// Counts the humans who have so many dogs older than an age, or more.
  func countHumans(withDogs count: Int, olderThan age: Int64) throws -> Int
  /// Counts titles that have a part, by bytes or without regard to case and diacritics; nil of an engine that can't do the latter.
  ///
  /// - Parameter areAccented: the titles of which a tenth have accents.
  func countTitles(containing part: String, isFolded: Bool, areAccented: Bool) throws -> Int?
  /// Reads the text of ten conditions and makes it ready to be run.
  func prepareConditions() throws
  func close() throws
}

extension Contender {
  /// Nil for an engine that these workloads leave out.
  func openQueries(in folder: String, count: Int) throws -> (any QueryFile)? {
    switch kind {
    case .realmStorage: try StorageQueries(folder: folder, isEncrypted: isEncrypted)
    case .realmObjects: try ObjectsQueries(folder: folder, isEncrypted: isEncrypted)
    case .sqlite: try SQLiteQueries(folder: folder, count: count)
    case .grdb, .lmdb: nil
    }
  }
}
