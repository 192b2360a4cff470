/// The record at the start of pages 0 and 1: which version is newest, and its root.
///
/// 512 bytes, integers little-endian, the rest of the page zero (FORMAT.md, "Meta pages"):
///
///     offset  size  field
///          0     8  magic         89 52 4c 4d 0d 0a 1a 0a
///          8     4  format        1
///         12     4  pageSize      4096
///         16    16  fileID        random
///         32    16  salt          random; for key derivation
///         48     4  flags         bit 0 encrypted, bit 1 cleanly closed
///         52     4  draft         format 0: the number of the draft, of which only 4 is read; else zero
///         56     8  version
///         64     8  greatest      the greatest version number given when the page was written
///         72     8  durable       the newest version known durable when the page was written
///         80     8  pageCount     of the file, at that version
///         88     8  time          when the page was made, nanoseconds since 1970
///         96    32  root          as a sealed ref; plain: the last 8 bytes zero
///        128     8  device        of the file; device and inode
///        136     8  inode         reveal a copy that was made while the file was in use
///        144     8  recoveryTime  time of the last recovery that rejected a page, or zero
///        152     8  recoveredTo   the version that this recovery opened
///        160    16  keyCheck      encrypted: tells a wrong key from damage
///        176   288  zero
///        464     8  checksum      of the 464 bytes before
///        472     8  zero
///        480    32  code          encrypted: keyed BLAKE2b of the 480 bytes before
package struct MetaPage: Equatable, Sendable {
  package enum Layout {
    static let magic: [UInt8] = [0x89, 0x52, 0x4c, 0x4d, 0x0d, 0x0a, 0x1a, 0x0a]
    static let flags = 48
    static let draft = 52
    static let version = 56
    static let greatest = 64
    static let durable = 72
    static let pageCount = 80
    static let time = 88
    static let root = 96
    static let device = 128
    static let inode = 136
    static let recoveryTime = 144
    static let recoveredTo = 152
    static let keyCheck = 160
    static let checksum = 464
    static let code = 480
    static let size = 512
  }

  /// The format of all pages that are written. A new number is only for files that readers of this format could not
  /// read and would not refuse (FORMAT.md, "Versioning policy").
  package static let format: UInt32 = 1
  /// The draft of format 0 that is read like format 1. Only these two numbers differ between the two.
  package static let lastDraft: UInt32 = 4
  /// The greatest version number.
  package static let maximumVersion = Ref.maximumBirth

  /// The fields that never change in the life of a file.
  package struct Constants: Equatable, Sendable {
    package var fileID: [UInt8]
    package var salt: [UInt8]
    package var isEncrypted: Bool
    package var keyCheck: [UInt8]
  }

  package var constants: Constants
  package var version: Version
  package var greatest: UInt64
  package var durable: UInt64
  package var isClean: Bool
  package var time: UInt64
  package var identity: FileIdentity
  package var recoveryTime: UInt64 = 0
  package var recoveredTo: UInt64 = 0

  // MARK: - Writing

  /// The bytes of the whole page.
  package func encoded(cipher: NodeCipher?) -> [UInt8] {
    var page = [UInt8].zeros(FilePlace.page)
    page.replaceSubrange(0..<8, with: Layout.magic)
    page.store(Self.format, at: 8)
    page.store(UInt32(FilePlace.page), at: 12)
    page.replaceSubrange(16..<32, with: constants.fileID)
    page.replaceSubrange(32..<48, with: constants.salt)
    page.store(UInt32((constants.isEncrypted ? 1 : 0) | (isClean ? 2 : 0)), at: Layout.flags)
    page.store(version.number, at: Layout.version)
    page.store(greatest, at: Layout.greatest)
    page.store(durable, at: Layout.durable)
    page.store(UInt64(version.pageCount), at: Layout.pageCount)
    page.store(time, at: Layout.time)
    page.store(version.root.place, at: Layout.root)
    page.store(version.root.identity, at: Layout.root + 8)
    page.store(version.root.check, at: Layout.root + 16)
    page.store(version.root.check2, at: Layout.root + 24)
    page.store(identity.device, at: Layout.device)
    page.store(identity.inode, at: Layout.inode)
    page.store(recoveryTime, at: Layout.recoveryTime)
    page.store(recoveredTo, at: Layout.recoveredTo)
    page.replaceSubrange(Layout.keyCheck..<Layout.keyCheck + 16, with: constants.keyCheck)
    page.store(checksum(of: page), at: Layout.checksum)
    if let cipher {
      let code = cipher.authenticate(Array(page[..<Layout.code]))
      page.replaceSubrange(Layout.code..<Layout.size, with: code)
    }
    return page
  }

  // MARK: - Reading

  /// The result of reading a page. Only a `sound` page whose code was checked too may be believed.
  package enum Reading: Equatable, Sendable {
    case sound(MetaPage)
    /// The page has no magic. It is not a page of this engine, or its magic is damaged.
    case foreign
    /// The page is whole and of another format, or of another draft of format 0. Its other fields have another meaning.
    case otherFormat(Number)
    /// The page is not whole and has the number of a later format. It is a damaged page of that format or of this one.
    case newerOrDamaged(format: UInt32)
    case damaged
  }

  /// The numbers that identify the layout of a page.
  package struct Number: Equatable, Sendable {
    package var format: UInt32
    /// The number of the draft; zero in every format but 0.
    package var draft: UInt32

    package var isRead: Bool { format == MetaPage.format || isLastDraft }
    package var isLastDraft: Bool { format == 0 && draft == MetaPage.lastDraft }

    /// - Precondition: the bytes are those of a whole page.
    package init(_ page: [UInt8]) {
      format = page.load(UInt32.self, at: 8)
      draft = format == 0 ? page.load(UInt32.self, at: Layout.draft) : 0
    }

    package func refusal(path: String) -> StorageError {
      format == 0
        ? .unsupportedDraft(found: draft, supported: MetaPage.lastDraft, path: path)
        : .unsupportedFormat(found: format, supported: MetaPage.format, path: path)
    }
  }

  /// Checks all of a page except its code, because that needs the key that is derived with the page's salt.
  package static func read(_ page: [UInt8]) -> Reading {
    guard page.count >= 16, Array(page[..<8]) == Layout.magic else { return .foreign }
    guard page.count == FilePlace.page, page.load(UInt64.self, at: Layout.checksum) == checksum(of: page)
    else {
      let format = page.load(UInt32.self, at: 8)
      return format > Self.format ? .newerOrDamaged(format: format) : .damaged
    }
    let number = Number(page)
    guard number.isRead else { return .otherFormat(number) }
    guard page.load(UInt32.self, at: 12) == UInt32(FilePlace.page),
      number.isLastDraft || page.load(UInt32.self, at: Layout.draft) == 0,
      page[Layout.keyCheck + 16..<Layout.checksum].allSatisfy({ $0 == 0 }),
      page[Layout.checksum + 8..<Layout.code].allSatisfy({ $0 == 0 }),
      page[Layout.size...].allSatisfy({ $0 == 0 })
    else { return .damaged }
    let flags = page.load(UInt32.self, at: Layout.flags)
    let pageCount = page.load(UInt64.self, at: Layout.pageCount)
    let meta = MetaPage(
      constants: Constants(
        fileID: Array(page[16..<32]), salt: Array(page[32..<48]), isEncrypted: flags & 1 != 0,
        keyCheck: Array(page[Layout.keyCheck..<Layout.keyCheck + 16])),
      version: Version(
        number: page.load(UInt64.self, at: Layout.version),
        root: Ref(
          place: page.load(UInt64.self, at: Layout.root),
          identity: page.load(UInt64.self, at: Layout.root + 8),
          check: page.load(UInt64.self, at: Layout.root + 16),
          check2: page.load(UInt64.self, at: Layout.root + 24)),
        pageCount: Int(truncatingIfNeeded: pageCount)),
      greatest: page.load(UInt64.self, at: Layout.greatest),
      durable: page.load(UInt64.self, at: Layout.durable),
      isClean: flags & 2 != 0, time: page.load(UInt64.self, at: Layout.time),
      identity: FileIdentity(
        device: page.load(UInt64.self, at: Layout.device), inode: page.load(UInt64.self, at: Layout.inode)),
      recoveryTime: page.load(UInt64.self, at: Layout.recoveryTime),
      recoveredTo: page.load(UInt64.self, at: Layout.recoveredTo))
    guard flags & ~3 == 0, pageCount <= FileLimit.bytes / UInt64(FilePlace.page), pageCount >= 2,
      (1...maximumVersion).contains(meta.version.number), meta.durable <= meta.version.number,
      (meta.version.number...maximumVersion).contains(meta.greatest),
      meta.version.root.isNull
        || (meta.version.root.isWellFormed && meta.version.root.birth <= meta.version.number)
    else { return .damaged }
    return .sound(meta)
  }

  /// Whether the writer of the page had the key.
  package static func isAuthentic(_ page: [UInt8], cipher: NodeCipher) -> Bool {
    cipher.authenticate(Array(page[..<Layout.code])) == Array(page[Layout.code..<Layout.size])
  }

  private static func checksum(of page: [UInt8]) -> UInt64 {
    page.span.bytes.extracting(0..<Layout.checksum).checksum
  }

  private func checksum(of page: [UInt8]) -> UInt64 { Self.checksum(of: page) }
}

extension [UInt8] {
  /// The little-endian integer at an offset.
  package func load<Value: FixedWidthInteger>(_ type: Value.Type, at offset: Int) -> Value {
    var value: Value = 0
    for byte in 0..<MemoryLayout<Value>.size {
      value |= Value(truncatingIfNeeded: self[offset + byte]) << (8 * byte)
    }
    return value
  }

  package mutating func store<Value: FixedWidthInteger>(_ value: Value, at offset: Int) {
    for byte in 0..<MemoryLayout<Value>.size {
      self[offset + byte] = UInt8(truncatingIfNeeded: value >> (8 * byte))
    }
  }
}
