/// The named slots that keep versions. A slot's name is `version/` and the name under which the version is kept
/// (FORMAT.md, "Named slots").
///
/// These bytes follow the byte with the rule:
///
///     offset  size  field
///          0     8  version
///          8    32  root       a ref in the 32-byte form; zero if the version is empty
///         40     8  end        the end of the file when the version was written, in bytes
///         48     8  since      the time since which it is kept, in seconds since 1970
///
/// The root and the end are zero if the library ended the version because too much space was kept for it.
enum VersionSlots {
  static let prefix = "version/"
  static let maximumNameLength = Catalogue.maximumNameLength - prefix.utf8.count
  /// The greatest number of named versions. Each of them makes every commit take a little longer.
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
    /// The version that the slot keeps; nil if the slot does not describe a valid version.
    var kept: Kept?
  }

  struct Kept: Sendable, Equatable {
    /// The version that is kept. It has no nodes if it was ended.
    var version: Version
    /// The time since which the version is kept, in seconds since 1970.
    var since: UInt64
    var isEnded: Bool { version.pageCount == 0 }

    init(_ version: Version, since: UInt64) {
      self.version = version
      self.since = since
    }

    /// Reads the bytes of a slot. Returns nil if they do not describe a version that is older than `number`, the
    /// version that has the slot.
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

  /// The name of the version that a slot keeps; nil if the slot is of another kind.
  static func name(ofSlot name: String) -> String? {
    // The prefix is compared by its bytes, because the name may begin with a character that combines with the slash.
    guard name.utf8.count > prefix.utf8.count, name.utf8.starts(with: prefix.utf8) else { return nil }
    return String(Substring(name.utf8.dropFirst(prefix.utf8.count)))
  }

  /// All slots that keep versions, in the order of their names.
  ///
  /// - Parameter number: the number of the version that has the slots.
  /// - Throws: `.corrupted` if the tree of the slots can't be read.
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

  /// The slot that keeps a version under a name; nil if there is none.
  ///
  /// - Throws: `.corrupted` if the tree of the slots can't be read.
  static func find(
    _ name: String, _ catalogue: Catalogue, before number: UInt64, _ access: borrowing NodeAccess
  ) throws(StorageError) -> Slot? {
    guard (1...maximumNameLength).contains(name.utf8.count) else { return nil }
    return try NamedSlots.find(prefix + name, in: catalogue.namedSlots, access).map {
      Slot(name: name, kept: kept(by: $0, before: number))
    }
  }

  /// Keeps a version under a name. It replaces the version that was kept under that name.
  ///
  /// - Throws: `.limitExceeded` if the name is empty or too long, or if it is new and there are `maximumCount` names
  ///   already; `.corrupted`.
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

  /// Removes the slot that keeps a version under a name. Returns whether there was one.
  ///
  /// - Throws: `.corrupted` if the tree of the slots can't be read. The content of the slot is not checked.
  static func remove(
    _ name: String, from catalogue: inout Catalogue, _ editor: NodeEditor
  ) throws(StorageError) -> Bool {
    guard (1...maximumNameLength).contains(name.utf8.count) else { return false }
    return try NamedSlots.remove(prefix + name, from: &catalogue, editor)
  }

  /// Ends a version that is kept, under all of its names. The names stay. Returns whether the version was kept.
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
  /// Whether this version of the library knows the slot.
  var isKnown: Bool { name == ChangelogSlot.name || VersionSlots.name(ofSlot: name) != nil }
}

/// The named slot that makes a file a synced one. It holds the changesets that are not sent or not acknowledged yet
/// (FORMAT.md, "Changelog").
enum ChangelogSlot {
  static let name = "changelog"
}

extension NodeAccess {
  /// The error for the slot of a named version that does not describe a valid version.
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
