import Foundation
import RealmTestSupport
import Testing

@testable import RealmStorage

/// Files of other programs or other formats. Each is refused with its name and kind, stays as it is, and no files are
/// made beside it.
@Suite struct ForeignFileTests {
  /// The header of a file of the original Realm: two refs, the mark, two format numbers, a byte of zero, flags.
  static func original(
    formats: (UInt8, UInt8), flags: UInt8, refs: [UInt64] = [512, 1024], length: Int = 4096
  ) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 24)
    bytes.store(refs[0], at: 0)
    bytes.store(refs[1], at: 8)
    bytes.replaceSubrange(16..<20, with: Array("T-DB".utf8))
    bytes.replaceSubrange(20..<24, with: [formats.0, formats.1, 0, flags])
    var generator = SeededGenerator(seed: 1)
    return bytes + generator.bytes(max(0, length - 24))
  }

  /// Every way to open: for reading or writing, with a key or without.
  private static let ways: [Database.Options] = [nil, Keys.first].flatMap { key in
    [true, false].map { Database.Options(encryptionKey: key, isReadOnly: $0) }
  }

  private func expectRefusal(
    of bytes: [UInt8], _ name: String, _ options: [Database.Options] = Self.ways,
    _ error: (String, Database.Options) -> StorageError
  ) throws {
    for options in options {
      try withTemporaryPath { path in
        try Data(bytes).write(to: URL(filePath: path))
        let before = try FolderListing(around: path)
        #expect(throws: error(path, options), "\(name)") { try Database(path: path, options: options) }
        #expect(try FolderListing(around: path) == before, "\(name)")
      }
    }
  }

  // MARK: - The original's files

  @Test func `a file of the original Realm is refused with its format number, whatever its header is`()
    throws
  {
    let most = UInt64.max
    let files: [(String, [UInt8], UInt8)] = [
      ("the first number counts", Self.original(formats: (24, 23), flags: 0), 24),
      ("the second number counts", Self.original(formats: (24, 23), flags: 1), 23),
      ("other flags say nothing", Self.original(formats: (20, 9), flags: 0xfe), 20),
      ("one that is being made", Self.original(formats: (0, 0), flags: 0, refs: [0, 0]), 0),
      ("written as a stream", Self.original(formats: (24, 0), flags: 0, refs: [most, 0], length: 8000), 24),
      ("a stream without a number", Self.original(formats: (0, 0), flags: 0, refs: [most, 0]), 0),
      ("nothing but a header", Self.original(formats: (22, 22), flags: 1, length: 24), 22),
      ("a header cut short", Array(Self.original(formats: (22, 0), flags: 0).prefix(21)), 22),
      ("a header without numbers", Array(Self.original(formats: (22, 0), flags: 0).prefix(20)), 0),
      ("a long one", Self.original(formats: (24, 24), flags: 1, length: 50_000), 24),
    ]
    for (name, bytes, format) in files {
      try expectRefusal(of: bytes, name) { path, _ in .originalRealmFile(format: format, path: path) }
    }
    let told = StorageError.originalRealmFile(format: 24, path: "a.realm").description
    for word in ["original Realm", "format 24", "JSON", "not touched"] { #expect(told.contains(word)) }
    let untold = StorageError.originalRealmFile(format: 0, path: "a.realm").description
    #expect(untold.contains("without a format number"))
  }

  @Test
  func `a file that looks like noise may be an encrypted file of the original Realm, and the error says so`()
    throws
  {
    var generator = SeededGenerator(seed: 7)
    try expectRefusal(of: generator.bytes(16_384), "noise") { path, _ in
      .notARealmFile(path: path, mayBeOriginal: true)
    }
    let others = [
      generator.bytes(10_000), generator.bytes(4096), [7], Array("SQLite format 3\0".utf8),
      [UInt8](repeating: 0, count: 8192), Array(String(repeating: "A text. ", count: 1024).utf8),
    ]
    for bytes in others {
      // A caller that gives a key may have an encrypted file of the original Realm.
      try expectRefusal(of: bytes, "\(bytes.count) bytes") { path, options in
        .notARealmFile(path: path, mayBeOriginal: options.encryptionKey != nil)
      }
    }
    let both = StorageError.notARealmFile(path: "a", mayBeOriginal: true).description
    #expect(both.contains("is not a realm file") && both.contains("encrypted file of the original Realm"))
    #expect(!StorageError.notARealmFile(path: "a").description.contains("original"))
  }

  @Test func `a file of this format whose id contains the mark of the original Realm is opened`() throws {
    let constants = MetaPage.Constants(
      fileID: Array("T-DB".utf8) + [UInt8](repeating: 24, count: 12), salt: [UInt8](repeating: 1, count: 16),
      isEncrypted: false, keyCheck: [UInt8](repeating: 0, count: 16))
    let page = MetaPage(
      constants: constants, version: Version(number: 1, root: .null, pageCount: 2), greatest: 1, durable: 1,
      isClean: true, time: 0, identity: FileIdentity(device: 0, inode: 0)
    ).encoded(cipher: nil)
    try withTemporaryPath { path in
      try Data(page + page).write(to: URL(filePath: path))
      #expect(try Database(path: path).version == 1)
    }
    try expectRefusal(of: Array(page.prefix(1000)), "cut short") { path, _ in
      .truncated(path: path, length: 1000, needed: 8192)
    }
  }

  // MARK: - Other formats

  /// A small file as another format would have it. Only magic, format, draft and checksum have the same places as in
  /// format 1.
  private static func file(
    ofFormat format: UInt32, draft: UInt32 = 0, pages: [Int] = [0, 1], isEncrypted: Bool = false
  ) throws -> [UInt8] {
    var generator = SeededGenerator(seed: UInt64(format) << 32 | UInt64(draft))
    return try withTemporaryPath { path in
      do {
        let database = try Database(path: path, options: .init(encryptionKey: isEncrypted ? Keys.first : nil))
        try database.write { try $0.tree("a").set([1], for: [1]) }
        database.close()
      }
      var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
      for page in pages where format != MetaPage.format {
        let start = page * 4096
        bytes.replaceSubrange(start + 56..<start + 464, with: generator.bytes(408))
        bytes.store(format, at: start + 8)
        bytes.store(draft, at: start + 52)
        bytes.store(bytes[start..<start + 464].withSum, at: start + 464)
      }
      return bytes
    }
  }

  /// One page of another format is enough: opening by the other page would overwrite this one.
  @Test(
    arguments: [
      [0, 0], [0, MetaPage.lastDraft - 1], [0, MetaPage.lastDraft + 1], [0, 77], [0, .max], [2, 0], [2, 4],
      [900, 1], [.max, .max],
    ] as [[UInt32]])
  func `a file of another format is refused with its number and the supported one, never as damage`(
    numbers: [UInt32]
  ) throws {
    let (format, draft) = (numbers[0], numbers[1])
    func error(_ path: String) -> StorageError {
      format == 0
        ? .unsupportedDraft(found: draft, supported: 4, path: path)
        : .unsupportedFormat(found: format, supported: 1, path: path)
    }
    for isEncrypted in [false, true] {
      for pages in [[0, 1], [0], [1]] {
        let bytes = try Self.file(ofFormat: format, draft: draft, pages: pages, isEncrypted: isEncrypted)
        try expectRefusal(of: bytes, "pages \(pages)") { path, _ in error(path) }
      }
      for place in [100, 4096 + 100] {
        var bytes = try Self.file(ofFormat: format, draft: draft, isEncrypted: isEncrypted)
        bytes[place] ^= 1
        try expectRefusal(of: bytes, "damaged at \(place)") { path, _ in error(path) }
      }
      let bytes = try Self.file(ofFormat: format, draft: draft, isEncrypted: isEncrypted)
      try expectRefusal(of: Array(bytes.prefix(5000)), "cut") { path, _ in error(path) }
    }
    let told = error("a").description
    #expect(
      told.contains(format == 0 ? "draft \(draft) " : "format \(format), ") && told.contains("format 1"))
    #expect(told.contains(format == 0 ? "realm dump --json" : "newer version"))
  }

  @Test func `the format number in a page with a wrong checksum is ignored if the other page is sound`()
    throws
  {
    for (place, number) in [(8, 2), (8, 0), (52, 9)] as [(Int, UInt32)] {
      for page in 0..<2 {
        var bytes = try Self.file(ofFormat: 1)
        bytes.store(number, at: page * 4096 + place)
        try withTemporaryPath { path in
          try Data(bytes).write(to: URL(filePath: path))
          #expect(try Database(path: path).snapshot().tree("a").value(for: [1]) == [1])
        }
      }
      var bytes = try Self.file(ofFormat: 1)
      for page in 0..<2 { bytes.store(number, at: page * 4096 + place) }
      // It may be a damaged file of that format.
      try expectRefusal(of: bytes, "both", [.init()]) { path, _ in
        number == 2
          ? .unsupportedFormat(found: 2, supported: 1, path: path) : MetaPair.noPage(.metaPages, path: path)
      }
    }
  }

  @Test func `a page of format 1 with a draft number is not sound`() throws {
    var bytes = try Self.file(ofFormat: 1)
    for start in [0, 4096] {
      bytes.store(MetaPage.lastDraft, at: start + 52)
      bytes.store(bytes[start..<start + 464].withSum, at: start + 464)
    }
    try expectRefusal(of: bytes, "a draft", [.init()]) { path, _ in MetaPair.noPage(.metaPages, path: path) }
    for page in 0..<2 {
      var one = try Self.file(ofFormat: 1)
      one.replaceSubrange(page * 4096..<(page + 1) * 4096, with: bytes[page * 4096..<(page + 1) * 4096])
      try withTemporaryPath { path in
        try Data(one).write(to: URL(filePath: path))
        #expect(try Database(path: path).snapshot().tree("a").value(for: [1]) == [1])
        #expect(try [UInt8](Data(contentsOf: URL(filePath: path)))[page * 4096 + 52] == 0)
      }
    }
  }

  // MARK: - What else can't be opened

  @Test func `opening a file that is refused makes no files beside it`() throws {
    let plain = try Self.file(ofFormat: 1)
    let encrypted = try Self.file(ofFormat: 1, isEncrypted: true)
    var newer = plain
    for page in 0..<2 { newer[page * 4096 + 8] = 9 }
    var damaged = plain
    for page in 0..<2 { damaged[page * 4096 + 90] ^= 1 }
    let writers: [Database.Options] = [.init(), .init(isReadOnly: true)]
    let openers: [Database.Options] = writers.map { options in
      var options = options
      options.encryptionKey = Keys.second
      return options
    }
    try expectRefusal(of: newer, "format 9") { path, _ in
      .unsupportedFormat(found: 9, supported: 1, path: path)
    }
    try expectRefusal(of: damaged, "damaged") { path, _ in MetaPair.noPage(.metaPages, path: path) }
    try expectRefusal(of: encrypted, "without key", writers) { path, _ in .keyMissing(path: path) }
    try expectRefusal(of: encrypted, "another key", openers) { path, _ in .wrongKey(path: path) }
    try expectRefusal(of: plain, "a key", openers) { path, _ in .keyForPlainFile(path: path) }
    try expectRefusal(of: Array(plain.prefix(8192)), "cut short", writers) { path, _ in
      .truncated(path: path, length: 8192, needed: 12_288)
    }
    try expectRefusal(of: Array(plain.prefix(4096 + 10)), "cut in a page", writers) { path, _ in
      .truncated(path: path, length: 4106, needed: 12_288)
    }
    let short =
      [.init(encryptionKey: [1]), .init(encryptionKey: [1], isReadOnly: true)] as [Database.Options]
    try expectRefusal(of: encrypted, "a short key", short) { _, _ in .invalidKeyLength(1) }
  }

  /// An opening that reads nodes has made the control file before it finds damage. The file is removed again.
  @Test(arguments: [false, true], [nil, Keys.first])
  func `opening a file with damaged nodes leaves nothing beside the file`(isReadOnly: Bool, key: [UInt8]?)
    throws
  {
    try withTemporaryPath { path in
      let source = path + ".source"
      let database = try Database(path: source, options: .init(encryptionKey: key))
      for number in 0..<3 { try database.write { try $0.tree("a").set([UInt8(number)], for: [1]) } }
      // The file is copied while it is in use, so opening the copy verifies all nodes.
      var bytes = try Data(contentsOf: URL(filePath: source))
      for place in 8192..<bytes.count { bytes[place] ^= 0x55 }
      database.close()
      _ = try Database.removeFiles(path: source)
      try bytes.write(to: URL(filePath: path))
      let options = Database.Options(encryptionKey: key, isReadOnly: isReadOnly)
      let lonely = try FolderListing(around: path)
      #expect(throws: StorageError.self) { try Database(path: path, options: options) }
      #expect(try FolderListing(around: path) == lonely)
      // Files that were there before stay.
      try FileManager.default.createDirectory(
        atPath: path + ".management", withIntermediateDirectories: false)
      try Data("mine".utf8).write(to: URL(filePath: path + ".note"))
      for _ in 0..<2 {
        let before = try FolderListing(around: path)
        #expect(throws: StorageError.self) { try Database(path: path, options: options) }
        #expect(try FolderListing(around: path) == before)
        try Data("mine".utf8).write(to: URL(filePath: path + ".management/notes.txt"))
      }
    }
  }

  @Test(arguments: [false, true]) func `folders, pipes and paths in missing folders can't be opened`(
    isReadOnly: Bool
  )
    throws
  {
    try withTemporaryPath { path in
      let options = Database.Options(isReadOnly: isReadOnly)
      let folder = path + ".folder"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      #expect(mkfifo(path, 0o600) == 0)
      let before = try FolderListing(around: path)
      #expect(throws: StorageError.notARealmFile(path: path)) { try Database(path: path, options: options) }
      #expect(throws: StorageError.system(call: .open, errno: EISDIR, path: folder, offset: nil)) {
        try Database(path: folder, options: options)
      }
      for (name, number) in [(path + "/below.realm", ENOTDIR), (folder + "/no/below.realm", ENOENT)] {
        #expect(throws: StorageError.system(call: .open, errno: number, path: name, offset: nil)) {
          try Database(path: name, options: options)
        }
      }
      if isReadOnly {
        #expect(throws: StorageError.self) { try Database(path: path + ".none", options: options) }
      }
      #expect(try FolderListing(around: path) == before)
    }
  }

  @Test func `a failed opening disturbs no handle that has the file open`() throws {
    try withTemporaryPath { path in
      let database = try Database(path: path, options: .init(encryptionKey: Keys.first))
      try database.write { try $0.tree("a").set([1], for: [1]) }
      let before = try FolderListing(around: path).names
      for options in [
        Database.Options(), .init(isReadOnly: true), .init(encryptionKey: Keys.second),
        .init(encryptionKey: Keys.second, isReadOnly: true),
      ] {
        #expect(throws: StorageError.self) { try Database(path: path, options: options) }
      }
      #expect(try FolderListing(around: path).names == before && before.count == 4)
      try database.write { try $0.tree("a").set([2], for: [1]) }
      let other = try Database(path: path, options: .init(encryptionKey: Keys.first))
      #expect(try other.snapshot().tree("a").value(for: [1]) == [2])
    }
  }
}

extension ArraySlice<UInt8> {
  fileprivate var withSum: UInt64 { Array(self).span.bytes.checksum }
}
