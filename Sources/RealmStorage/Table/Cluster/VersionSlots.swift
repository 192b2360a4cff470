/// The named slots that keep versions: `version/` and a name lead to the version that is kept under it (FORMAT.md, "Named slots").
///
/// After the byte with the rule:
///
///     offset  size  field
///          0     8  version
///          8    32  root       as a sealed ref; zero where the version is empty
///         40     8  end        of the file when the version was written, in bytes
///         48     8  since      seconds since 1970
///
/// Of a version that was ended, since too much was kept for it, root and end are zero.
enum VersionSlots {
  static let prefix = "version/"
  static let maximumNameLength = Catalogue.maximumNameLength - prefix.utf8.count
  /// Each costs every commit a little.
  static let maximumCount = 1000

  private enum Layout {
    static let version = 0
    static let root = 8
    static let end = 40
    static let since = 48
    static let size = 56
  }

  struct Slot: Sendable, Equatable {
    var name: String
    /// The version that the slot names; nil where the slot does not tell one.
    var kept: Kept?
  }

  struct Kept: Sendable, Equatable {
    /// Without nodes where it was ended.
    var version: Version
    /// Seconds since 1970.
    var since: UInt64
    var isEnded: Bool { version.pageCount == 0 }

    init(_ version: Version, since: UInt64) {
      self.version = version
      self.since = since
    }

    /// Nil for bytes that are none of a version older than `number`, which has the slot.
    init?(_ bytes: [UInt8], before number: UInt64) {
      guard bytes.count == Layout.size else { return nil }
      let root = Ref(
        place: bytes.load(UInt64.self, at: Layout.root),
        identity: bytes.load(UInt64.self, at: Layout.root + 8),
        check: bytes.load(UInt64.self, at: Layout.root + 16),
        check2: bytes.load(UInt64.self, at: Layout.root + 24))
      let end = bytes.load(UInt64.self, at: Layout.end)
      let page = UInt64(FilePlace.page)
      version = Version(
        number: bytes.load(UInt64.self, at: Layout.version), root: root,
        pageCount: Int(truncatingIfNeeded: end / page))
      since = bytes.load(UInt64.self, at: Layout.since)
      guard version.number > 0, version.number < number else { return nil }
      if end == 0, root == .null { return }
      guard end % page == 0, end >= FilePlace.firstNode, end <= FileLimit.bytes,
        root == .null || root.isWellFormed && root.birth <= version.number
      else { return nil }
    }

    fileprivate var bytes: [UInt8] {
      var bytes = [UInt8].zeros(Layout.size)
      bytes.store(version.number, at: Layout.version)
      bytes.store(version.root.place, at: Layout.root)
      bytes.store(version.root.identity, at: Layout.root + 8)
      bytes.store(version.root.check, at: Layout.root + 16)
      bytes.store(version.root.check2, at: Layout.root + 24)
      bytes.store(version.end, at: Layout.end)
      bytes.store(since, at: Layout.since)
      return bytes
    }
  }

  /// The name of a version that a slot keeps; nil for another slot.
  static func name(ofSlot name: String) -> String? {
    // By bytes: characters of a name that join the slash are a part of the name all the same.
    guard name.utf8.count > prefix.utf8.count, name.utf8.starts(with: prefix.utf8) else { return nil }
    return String(Substring(name.utf8.dropFirst(prefix.utf8.count)))
  }

  /// All of them, in the order of their names.
  ///
  /// - Parameter number: that of the version that has the slots.
  /// - Throws: `.corrupted` where the tree of the slots can't be read.
  static func all(
    _ catalogue: Catalogue, before number: UInt64, _ access: borrowing NodeAccess
  ) throws(StorageError) -> [Slot] {
    guard !catalogue.namedSlots.isNull else { return [] }
    return try NamedSlots.all(catalogue.namedSlots, access).compactMap { slot in
      name(ofSlot: slot.name).map { Slot(name: $0, kept: kept(by: slot, before: number)) }
    }
  }

  private static func kept(by slot: NamedSlots.Slot, before number: UInt64) -> Kept? {
    slot.rule == .knownToWrite && slot.root.isNull ? Kept(slot.bytes, before: number) : nil
  }

  /// That of one name.
  ///
  /// - Throws: `.corrupted` where the tree of the slots can't be read.
  static func find(
    _ name: String, _ catalogue: Catalogue, before number: UInt64, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Slot? {
    guard (1...maximumNameLength).contains(name.utf8.count) else { return nil }
    return try NamedSlots.find(prefix + name, in: catalogue.namedSlots, access).map {
      Slot(name: name, kept: kept(by: $0, before: number))
    }
  }

  /// Keeps a version under a name, whatever was kept under it.
  ///
  /// - Throws: `.limitExceeded` for a name that is empty or too long, and for one name too many; `.corrupted`.
  static func set(
    _ kept: Kept, for name: String, in catalogue: inout Catalogue, _ editor: NodeEditor
  ) throws(StorageError) {
    let path = editor.store.storage.path
    guard (1...maximumNameLength).contains(name.utf8.count) else {
      throw .limitExceeded(.nameLength(name.utf8.count, maximum: maximumNameLength), path: path)
    }
    let isNew = try NamedSlots.find(prefix + name, in: catalogue.namedSlots, editor.access()) == nil
    let count = isNew ? try all(catalogue, before: .max, editor.access()).count : 0
    guard count < maximumCount else {
      throw .limitExceeded(.namedVersions(maximum: maximumCount), path: path)
    }
    try NamedSlots.set(.knownToWrite, kept.bytes, for: prefix + name, in: &catalogue, editor)
  }

  /// Keeps no version under a name any more; answers whether there was one.
  ///
  /// - Throws: `.corrupted` where the tree of the slots can't be read; what stands in the slot is not looked at.
  static func remove(
    _ name: String, from catalogue: inout Catalogue, _ editor: NodeEditor
  ) throws(StorageError) -> Bool {
    guard (1...maximumNameLength).contains(name.utf8.count) else { return false }
    return try NamedSlots.remove(prefix + name, from: &catalogue, editor)
  }

  /// Keeps a version no longer, under none of its names, which stay; answers whether there was one.
  ///
  /// - Throws: `.corrupted`.
  static func end(
    _ version: UInt64, in catalogue: inout Catalogue, _ editor: NodeEditor
  ) throws(StorageError) -> Bool {
    var wasThere = false
    for slot in try all(catalogue, before: .max, editor.access()) {
      guard let kept = slot.kept, !kept.isEnded, kept.version.number == version else { continue }
      let ended = Kept(Version(number: version, root: .null, pageCount: 0), since: kept.since)
      try NamedSlots.set(.knownToWrite, ended.bytes, for: prefix + slot.name, in: &catalogue, editor)
      wasThere = true
    }
    return wasThere
  }
}

extension NamedSlots.Slot {
  /// Whether this version of the library knows what to do with the slot.
  var isKnown: Bool { name == ChangelogSlot.name || VersionSlots.name(ofSlot: name) != nil }
}

/// The named slot that makes a file a synced one: the changesets that are not sent yet, or not acknowledged (FORMAT.md, "Changelog").
enum ChangelogSlot {
  static let name = "changelog"
}

extension NodeAccess {
  /// The slot of a named version does not tell of a version.
  func corruptedSlot(ofVersion name: String, _ tree: Ref) -> StorageError {
    guard case .corrupted(let found, let path) = corrupted(.structure, tree) else {
      return corrupted(.structure, tree)
    }
    return .corrupted(
      Corruption(
        .structure, offset: found.offset, length: found.length, birth: found.birth,
        nodeKind: "slot \(VersionSlots.prefix)\(name)"), path: path)
  }
}
