/// A copy of a version as a file of its own: node by node, each with its refs written anew, so that nothing is in it but
/// what the version reaches. Keys of rows, ids and order stay as they are. Versions that are kept by name stay behind: they are
/// other versions of that file.
struct DatabaseCopy {
  private let source: any NodeReader
  private let editor: NodeEditor
  /// Bytes of nodes in memory after the last were written.
  private var left = 0
  /// The places of the nodes that were copied: in a forged file a node may have many parents.
  private var seen: Set<UInt64> = []

  private init(_ source: any NodeReader, _ editor: NodeEditor) {
    self.source = source
    self.editor = editor
  }

  /// Makes a file at `path` appear at once and whole, or not at all.
  ///
  /// - Parameter origin: the file of the source, whose mode it gets.
  /// - Throws: `.system` with `EEXIST` where there is a file already; `.corrupted`; what opening and committing throw.
  static func write(
    _ source: any NodeReader, from origin: String, to path: String, _ options: Database.Options
  ) throws(StorageError) {
    guard !FileStorage.exists(path) else { throw FileStorage.alreadyThere(path) }
    let file = FileReplacement(of: path, word: "copy")
    defer { file.remove() }
    let mode = try build(source, file, options)
    try file.place(mode: mode, like: origin)
  }

  /// Makes a database of a version, and closes it; answers the mode that it would have.
  static func build(
    _ source: any NodeReader, _ file: FileReplacement, _ options: Database.Options
  ) throws(StorageError) -> UInt32 {
    // It is what the file is that it is a copy of.
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

  /// What is complete is written when there is so much more of it.
  private static let leastWritten = 8 << 20

  private func copy(_ ref: Ref, _ children: [Ref]) throws(StorageError) -> Ref {
    let access = source.access()
    let node = try access.node(ref)
    let arena = editor.arena
    let length = node.bodyLength + children.count * arena.refWidth.bytes
    // No writer makes a node that refs of the other width do not fit into.
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
  /// Writes a copy of this version to a new file, without what free space takes, and without the versions that are kept by name
  /// (`Database.namedVersions()`).
  ///
  /// Takes time in proportion to what the version holds, and memory for a small part of it.
  ///
  /// - Parameter encryptionKey: 64 bytes that the copy is encrypted with; nil for a copy that is not encrypted, whatever this
  ///   file is.
  /// - Throws: `.system` with `EEXIST` where there is a file at `path`; `.corrupted`; what opening and committing throw. No file
  ///   is left then. `.unknownFeature` where this version of the library does not know what must be known to write the file.
  public func copy(to path: String, encryptionKey: [UInt8]? = nil) throws(StorageError) {
    try copy(to: path, options: Database.Options(encryptionKey: encryptionKey))
  }

  package func copy(to path: String, options: Database.Options) throws(StorageError) {
    // A part of the file that this version does not know may name places of nodes, or must not stand in two files.
    if let feature = try database.unknownToWrite(self).first {
      throw .unknownFeature(feature, path: database.path)
    }
    try DatabaseCopy.write(self, from: database.path, to: path, options)
  }
}

extension WriteTransaction {
  /// Keeps no version by name any more.
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

  /// Writes a copy of the database as changed so far to a new file; see `Snapshot.copy`.
  public func copy(to path: String, encryptionKey: [UInt8]? = nil) throws(StorageError) {
    try settle()
    try DatabaseCopy.write(
      self, from: writer.context.storage.path, to: path, Database.Options(encryptionKey: encryptionKey))
  }
}

extension Database {
  /// Makes the file at `path` as small as what its newest version holds, by putting a copy in its place. Answers false, and
  /// leaves the file as it is, while anyone else has it open.
  ///
  /// The file is whole at any time: a crash leaves the old one or the new one. Needs room for both. Versions that are kept by name
  /// are dropped: who reads changes since one of them has to read all again (`Database.namedVersions()` tells them before).
  ///
  /// - Throws: what opening, reading and committing throw.
  @discardableResult
  public static func compact(path: String, options: Options = Options()) throws(StorageError) -> Bool {
    let database = try Database(path: path, options: options)
    defer { database.close() }
    return try database.compact(options)
  }

  private func compact(_ options: Options) throws(StorageError) -> Bool {
    // Nobody writes meanwhile.
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
