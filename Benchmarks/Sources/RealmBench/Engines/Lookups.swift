/// A file with one owner that has a set of texts and a map from these texts to numbers.
protocol LookupFile: AnyObject {
  /// Adds the owner in one durable transaction. The number of a text is its index.
  func fill(_ texts: [String]) throws
  /// The number of these texts that the set has.
  func count(of texts: [String]) throws -> Int
  /// Reads the numbers of texts that the map has.
  func numbers(of texts: [String]) throws -> Answer
  func close() throws
}

/// The texts of sets and maps. They are distinct and have about 20 bytes each.
enum LookupTexts {
  static func make(_ index: Int) -> String {
    var random = SplitMix64(seed: UInt64(index))
    return Words.all[random.next(below: Words.all.count)] + " "
      + Words.all[random.next(below: Words.all.count)]
      + " \(index)"
  }
}

extension Contender {
  /// Opens the engine's file; the result is nil for an engine that does not take part. The storage engine does not,
  /// because it reads sets and maps as a whole.
  func openLookups(in folder: String) throws -> (any LookupFile)? {
    switch kind {
    case .realmObjects: try ObjectsLookups(folder: folder, isEncrypted: isEncrypted)
    case .sqlite: try SQLiteLookups(folder: folder)
    case .realmStorage, .grdb, .lmdb: nil
    }
  }
}
