/// The two meta pages of a file as they were found, with those that may be believed told from the rest.
struct MetaPair {
  /// By page; nil where the page is not sound or not authentic.
  var pages: [MetaPage?]
  let constants: MetaPage.Constants
  let cipher: NodeCipher?

  /// Reads both pages and checks the key.
  ///
  /// - Throws: `.emptyFile`, `.notARealmFile`, `.originalRealmFile`, `.unsupportedFormat`, `.unsupportedDraft`,
  ///   `.truncated`, `.keyMissing`, `.keyForPlainFile`, `.wrongKey`, `.corrupted` when neither page is sound.
  init(storage: any ByteSource, key: [UInt8]?) throws(StorageError) {
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
    // Also where the other page is sound: who opens by that one would write over this one.
    for case .otherFormat(let number) in readings { throw number.refusal(path: path) }
    var sound: [MetaPage?] = readings.map { if case .sound(let page) = $0 { page } else { nil } }
    guard let known = sound.compactMap({ $0 }).first else {
      if let unreadable { throw unreadable }
      throw Self.refusal(
        readings, start: raw[0], length: try storage.length(), hasKey: key != nil, path: path)
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

  /// Throws where a file can't be opened, before anything is made beside it.
  ///
  /// - Throws: what `init` does, and `.truncated` where no version that a page names lies within the file.
  static func judge(_ file: any ByteSource, key: [UInt8]?) throws(StorageError) {
    var missing: StorageError?
    var seen: [MetaPage?] = []
    // What others write meanwhile may look damaged, or be of two moments: it is then looked at again.
    for _ in 0..<16 {
      let pages = try file.readMeta { () throws(StorageError) in
        let meta = try MetaPair(storage: file, key: key)
        return (meta.pages, meta.pages.allSatisfy { $0 != nil })
      }
      let length = try file.length()
      let versions = pages.compactMap { $0?.version }
      guard let newest = versions.max(by: { $0.number < $1.number }),
        versions.allSatisfy({ $0.end > length })
      else { return }
      missing = .truncated(path: file.path, length: length, needed: newest.end)
      if pages == seen { break }
      seen = pages
    }
    if let missing { throw missing }
  }

  private static func read(_ page: Int, _ storage: any ByteSource) throws(StorageError) -> [UInt8] {
    try StorageError.askingAgain { () throws(StorageError) in
      try storage.read(FilePlace.page, at: UInt64(page * FilePlace.page))
    }
  }

  private static func refusal(
    _ readings: [MetaPage.Reading], start: [UInt8], length: UInt64, hasKey: Bool, path: String
  ) -> StorageError {
    if length == 0 { return .emptyFile(path: path) }
    // A file id of ours may happen to read as the original's mark: where the magic is there, it is ours.
    if readings[0] == .foreign, let format = OriginalFile.format(start) {
      return .originalRealmFile(format: format, path: path)
    }
    for case .newerOrDamaged(let format) in readings {
      return .unsupportedFormat(found: format, supported: MetaPage.format, path: path)
    }
    if readings.allSatisfy({ $0 == .foreign }) {
      let mayBeOriginal = hasKey || OriginalFile.mayBeEncrypted(start, length: length)
      return .notARealmFile(path: path, mayBeOriginal: mayBeOriginal)
    }
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

extension ByteSource {
  /// Reads the meta pages, and again where one of them is not whole while others have the file open: a page that is being
  /// written looks damaged for a moment, and both may, one after the other.
  func readMeta<Pages>(
    _ read: () throws(StorageError) -> (pages: Pages, isWhole: Bool)
  ) throws(StorageError) -> Pages {
    for _ in 0..<16 {
      do throws(StorageError) {
        let (pages, isWhole) = try read()
        if isWhole || !isHeldElsewhere(.presence) { return pages }
      } catch {
        guard error.isDamage, isHeldElsewhere(.presence) else { throw error }
      }
    }
    return try read().pages
  }
}
