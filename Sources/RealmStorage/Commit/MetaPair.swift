/// The two meta pages of a file as they were found, without those that may not be believed.
struct MetaPair {
  /// The meta pages by their page number; nil for a page that is not sound, not authentic, or of another file.
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
        // A page that the disk can't read counts as damaged if the other page is sound.
        guard error.isReadFailure else { throw error }
        raw.append([])
        unreadable = error
      }
    }
    let readings = raw.map(MetaPage.read)
    // The file is refused even if the other page is sound, because a handle that opened it by the other page would
    // overwrite this one.
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
    // No writer puts sound pages of two different files, or roots of two widths, into one file.
    for page in 0..<2 where sound[page].map({ $0.constants != known.constants }) ?? false {
      sound[page] = nil
    }
    guard sound.contains(where: { $0 != nil }) else { throw Self.noPage(.metaPages, path: path) }
    constants = known.constants
    pages = sound
  }

  /// Throws if a file can't be opened, before anything is made beside it.
  ///
  /// - Throws: the errors of `init`, and `.truncated` if no version that a page names lies within the file.
  static func judge(_ file: any ByteSource, key: [UInt8]?) throws(StorageError) {
    var missing: StorageError?
    var seen: [MetaPage?] = []
    // While others write, the pages may look damaged or be from two different moments. They are then read again.
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
    // The id of a file of this engine may happen to contain the mark of the original Realm. A file with the magic is
    // ours.
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
  /// A value that tells a wrong key from damage before anything else is read.
  package var keyCheck: [UInt8] { Array(authenticate(Array("realm key check".utf8)).prefix(16)) }
}

extension ByteSource {
  /// Reads the meta pages. If one of them is not whole while others have the file open, it reads them again, because a
  /// page that is being written looks damaged for a moment, and both pages may, one after the other.
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
