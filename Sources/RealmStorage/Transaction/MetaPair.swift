/// The two meta pages of a file as they were found, with those that may be believed told from the rest.
struct MetaPair {
  /// By page; nil where the page is not sound or not authentic.
  var pages: [MetaPage?]
  let constants: MetaPage.Constants
  let cipher: NodeCipher?

  /// Reads both pages and checks the key.
  ///
  /// - Throws: `.notARealmFile`, `.unsupportedFormat`, `.truncated`, `.keyMissing`, `.keyForPlainFile`, `.wrongKey`,
  ///   `.corrupted` when neither page is sound.
  init(storage: any Storage, key: [UInt8]?) throws(StorageError) {
    let path = storage.path
    var raw: [[UInt8]] = []
    var unreadable: StorageError?
    for page in 0..<2 {
      do {
        raw.append(try Self.read(page, storage))
      } catch {
        // A page the disk can't read is a damaged one, as long as the other is sound.
        guard error.isReadFailure else { throw error }
        raw.append([])
        unreadable = error
      }
    }
    let readings = raw.map(MetaPage.read)
    var sound: [MetaPage?] = readings.map { if case .sound(let page) = $0 { page } else { nil } }
    guard let known = sound.compactMap({ $0 }).first else {
      if let unreadable { throw unreadable }
      throw Self.refusal(readings, length: try storage.length(), path: path)
    }
    switch (key, known.constants.isEncrypted) {
    case (nil, true): throw .keyMissing(path: path)
    case (.some, false): throw .keyForPlainFile(path: path)
    default: break
    }
    if let key {
      let cipher = try NodeCipher(key: key, salt: known.constants.salt, fileID: known.constants.fileID)
      guard known.constants.keyCheck == cipher.keyCheck else { throw .wrongKey(path: path) }
      for page in 0..<2 where sound[page] != nil && !MetaPage.isAuthentic(raw[page], cipher: cipher) {
        sound[page] = nil
      }
      self.cipher = cipher
    } else {
      cipher = nil
    }
    // Two sound pages of different files, or with one root of the wrong width, were put together by no writer.
    for page in 0..<2 where sound[page].map({ $0.constants != known.constants }) ?? false {
      sound[page] = nil
    }
    guard sound.contains(where: { $0 != nil }) else { throw Self.noPage(.metaPages, path: path) }
    constants = known.constants
    pages = sound
  }

  private static func read(_ page: Int, _ storage: any Storage) throws(StorageError) -> [UInt8] {
    try StorageError.askingAgain { () throws(StorageError) in
      try storage.read(FilePlace.page, at: UInt64(page * FilePlace.page))
    }
  }

  private static func refusal(_ readings: [MetaPage.Reading], length: UInt64, path: String) -> StorageError {
    for case .otherFormat(let format) in readings {
      return .unsupportedFormat(found: format, supported: MetaPage.format, path: path)
    }
    if readings.allSatisfy({ $0 == .foreign }) { return .notARealmFile(path: path) }
    if length < FilePlace.firstNode {
      return .truncated(path: path, length: length, needed: FilePlace.firstNode)
    }
    return noPage(.metaPages, path: path)
  }

  static func noPage(_ finding: Corruption.Finding, path: String) -> StorageError {
    .corrupted(
      Corruption(finding, offset: 0, length: 2 * FilePlace.page, birth: 0, nodeKind: "meta pages"), path: path
    )
  }

  var isClean: Bool {
    guard let first = pages[0], let second = pages[1] else { return false }
    return first.isClean && second.isClean && first.version == second.version
  }

  var greatest: UInt64 { pages.compactMap { $0?.greatest }.max() ?? 0 }
}

extension NodeCipher {
  /// Tells a wrong key from damage before anything else is read.
  package var keyCheck: [UInt8] { Array(authenticate(Array("realm key check".utf8)).prefix(16)) }
}

extension Storage {
  /// Reads the meta pages, and again where one of them is not whole while others have the file open: a page that is being
  /// written looks damaged for a moment.
  func readMeta<Pages>(
    _ read: () throws(StorageError) -> (pages: Pages, isWhole: Bool)
  ) throws(StorageError) -> Pages {
    for _ in 0..<16 {
      let (pages, isWhole) = try read()
      if isWhole || !isHeldElsewhere(.presence) { return pages }
    }
    return try read().pages
  }
}
