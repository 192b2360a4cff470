/// A file with one owner of a set of texts and of a map from these texts to numbers.
protocol LookupFile: AnyObject {
  /// Adds the owner; the number of a text is its place. In one durable transaction.
  func fill(_ texts: [String]) throws
  /// How many of the texts the set holds.
  func count(of texts: [String]) throws -> Int
  /// Reads the numbers of texts, each of which the map has.
  func numbers(of texts: [String]) throws -> Answer
  func close() throws
}

/// The texts of sets and maps: distinct, about 20 bytes each.
enum LookupTexts {
  static func make(_ index: Int) -> String {
    var random = SplitMix64(seed: UInt64(index))
    return Words.all[random.next(below: Words.all.count)] + " "
      + Words.all[random.next(below: Words.all.count)]
      + " \(index)"
  }
}

extension Contender {
  /// Nil for an engine that these workloads leave out: the storage engine reads sets and maps whole.
  func openLookups(in folder: String) throws -> (any LookupFile)? {
    switch kind {
    case .realmObjects: try ObjectsLookups(folder: folder, isEncrypted: isEncrypted)
    case .sqlite: try SQLiteLookups(folder: folder)
    case .realmStorage, .grdb, .lmdb: nil
    }
  }
}
