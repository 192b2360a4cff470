/// Copies a version into a file of its own, node by node, with new refs. So the copy has only what the version reaches. Keys of
/// rows, ids and the order stay the same. Named versions are not copied, because they are other versions of the file.
struct DatabaseCopy {
  private let source: any NodeReader
  private let editor: NodeEditor
  /// The bytes of nodes in memory after the last ones were written.
  private var left = 0
  /// The places of the copied nodes. In a forged file a node may have several parents.
  private var seen: Set<UInt64> = []

  private init(_ source: any NodeReader, _ editor: NodeEditor) {
    self.source = source
    self.editor = editor
  }

  /// Writes a copy to `path`. The file appears at once and complete, or not at all.
  ///
  /// - Parameter origin: the path of the source's file, whose mode the copy gets.
  /// - Throws: `.system` with `EEXIST` if there is a file already; `.corrupted`; what opening and committing throw.
  static func write(
    _ source: any NodeReader, from origin: String, to path: String, _ options: Database.Options
  ) throws(StorageError) {
    guard !FileStorage.exists(path) else { throw FileStorage.alreadyThere(path) }
    let file = FileReplacement(of: path, word: "copy")
    defer { file.remove() }
    let mode = try build(source, file, options)
    try file.place(mode: mode, like: origin)
  }

  /// Makes a database of a version, and closes it.
  ///
  /// - Returns: the mode that the file would have.
  static func build(
    _ source: any NodeReader, _ file: FileReplacement, _ options: Database.Options
  ) throws(StorageError) -> UInt32 {
    // The copy is synced if its source is.
    var options = options
    options.history = .any
    let database = try Database(path: file.path, options: options)
    defer { database.close() }
    let mode = try file.restrict()
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    var copy = DatabaseCopy(source, transaction.editor)
    let root = try copy.copy(source.root)
    transaction.begin(with: root)
    try transaction.dropNamedVersions()
    try transaction.commit()
    return UInt32(mode)
  }

  private mutating func copy(_ ref: Ref) throws(StorageError) -> Ref {
    guard !ref.isNull else { return .null }
    guard seen.insert(ref.place).inserted else { throw source.access().corrupted(.overlap, ref) }
    try editor.checkRoom(for: ref.length)
    var children = try source.access().children(of: ref)
    for index in children.indices {
      children[index] = try copy(children[index])
      guard editor.isLarge, editor.arena.liveBytes > left + Self.leastWritten else { continue }
      children.replaceSubrange(...index, with: try editor.spillIfLarge(Array(children[...index])))
      left = editor.arena.liveBytes
    }
    return try copy(ref, children)
  }

  /// Complete nodes are written when they have grown by so many bytes.
  private static let leastWritten = 8 << 20

  private func copy(_ ref: Ref, _ children: [Ref]) throws(StorageError) -> Ref {
    let access = source.access()
    let node = try access.node(ref)
    let arena = editor.arena
    let length = node.bodyLength + children.count * arena.refWidth.bytes
    // No writer makes a node that is too long for refs of the other width.
    guard let kind = ref.kind, length + NodeEditor.headerLength <= Ref.maximumLength else {
      throw access.corrupted(.structure, ref)
    }
    let copy = arena.make(
      kind: kind, level: ref.level, refCount: children.count, bodyLength: node.bodyLength)
    for (index, child) in children.enumerated() { copy.setRef(index, to: child) }
    copy.copy(node.bytes(at: 0, count: node.bodyLength), at: 0)
    return copy.ref
  }
}

extension Snapshot {
  /// Writes a copy of this version to a new file, without free space and without named versions (`Database.namedVersions()`).
  ///
  /// Takes time in proportion to the size of the version, and memory for a small part of it.
  ///
  /// - Parameters:
  ///   - path: the path of the new file.
  ///   - encryptionKey: the key of 64 bytes for the copy; nil for a copy that is not encrypted, whether or not this file is.
  /// - Throws: `.system` with `EEXIST` if there is a file at `path`; `.corrupted`; `.unknownFeature` if the file uses a feature
  ///   that this version of the library does not know and must know to write it; what opening and committing throw. No file is
  ///   left then.
  public func copy(to path: String, encryptionKey: [UInt8]? = nil) throws(StorageError) {
    try copy(to: path, options: Database.Options(encryptionKey: encryptionKey))
  }

  package func copy(to path: String, options: Database.Options) throws(StorageError) {
    // An unknown part of the file may have refs to nodes, or must not be copied to a second file.
    if let feature = try database.unknownToWrite(self).first {
      throw .unknownFeature(feature, path: database.path)
    }
    try DatabaseCopy.write(self, from: database.path, to: path, options)
  }
}

extension WriteTransaction {
  /// Drops all named versions.
  fileprivate func dropNamedVersions() throws(StorageError) {
    guard !root.isNull else { return }
    let access = access()
    let slots = try NamedSlots.all(Catalogue(root, access).namedSlots, access)
    let names = slots.compactMap { VersionSlots.name(ofSlot: $0.name) }
    guard !names.isEmpty else { return }
    try changeCatalogue(added: -names.count) { (catalogue, editor) throws(StorageError) in
      for name in names { _ = try VersionSlots.remove(name, from: &catalogue, editor) }
    }
  }

  /// Writes a copy of the database, as changed so far, to a new file; see `Snapshot.copy(to:encryptionKey:)`. The transaction
  /// stays open.
  public func copy(to path: String, encryptionKey: [UInt8]? = nil) throws(StorageError) {
    try settle()
    try DatabaseCopy.write(
      self, from: writer.context.storage.path, to: path, Database.Options(encryptionKey: encryptionKey))
  }
}

extension Database {
  /// Makes the file at `path` as small as its newest version, by replacing it with a copy. While any other handle has the file
  /// open, nothing is done.
  ///
  /// The file is complete at any time: after a crash it is the old one or the new one. There must be space for both. Named
  /// versions are dropped, so whoever reads changes since one of them has to read everything again; `Database.namedVersions()`
  /// lists them before.
  ///
  /// - Returns: false if another handle has the file open; otherwise true.
  /// - Throws: what opening, reading and committing throw.
  @discardableResult
  public static func compact(path: String, options: Options = Options()) throws(StorageError) -> Bool {
    let database = try Database(path: path, options: options)
    defer { database.close() }
    return try database.compact(options)
  }

  private func compact(_ options: Options) throws(StorageError) -> Bool {
    // The open transaction keeps others from writing.
    let transaction = try beginWrite()
    defer { transaction.cancel() }
    guard !isOpenElsewhere else { return false }
    let target = FileStorage.resolved(path) ?? path
    FileReplacement.removeBrokenOff(of: target, word: FileReplacement.compacting)
    let file = FileReplacement(of: target, word: FileReplacement.compacting)
    defer { file.remove() }
    _ = try DatabaseCopy.build(transaction, file, options)
    return try held.whileAlone { () throws(StorageError) in
      try file.replace()
      _ = try FileRemoval.removeCompanions(of: path)
    }
  }
}
