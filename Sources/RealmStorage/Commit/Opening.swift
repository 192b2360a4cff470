/// The steps of opening a database. The handle that opens it first recovers the file and makes the shared
/// tables; later handles find them.
///
/// All of this runs under the control lock, so that counting the participants and becoming one of them is one step.
/// Each participant holds the presence lock. That nobody holds it is the one proof that a file may be recovered as if
/// it were new.
struct Opening {
  let store: NodeStore
  let held: HeldVersions
  let writer: Writer?
  /// See `Database.fellBackTo`.
  let fellBackTo: UInt64?

  init(_ storage: any Storage, _ options: DatabaseOptions) throws(StorageError) {
    let tables = try SharedTables(storage)
    let writes = !storage.isReadOnly && !options.isReadOnly
    let isListed = storage.control != nil
    if !isListed { _ = try storage.lock(.unlistedReader, waits: true) }
    _ = try tables.control.lock()
    defer { tables.control.unlock() }
    // Somebody may have removed the files since they were opened.
    guard storage.isControlInPlace, storage.isFileInPlace else { throw .controlReplaced(path: storage.path) }
    let isFirst = !isListed || !storage.isHeldElsewhere(.presence)
    if isFirst { tables.block.adoptLastDraft() }
    if !isFirst, !tables.block.belongs(to: storage.identity, boot: storage.boot) {
      throw .inUse(path: storage.path)
    }
    // A writer that is still closing the file, or was killed while it wrote, is waited for.
    let locks = isFirst && writes
    if locks { _ = try storage.lock(.writer, waits: true) }
    defer { if locks { storage.unlock(.writer) } }
    try tables.segments.reserve()
    let meta = try Self.meta(storage, key: options.encryptionKey)
    store = try NodeStore(
      storage: storage, cipher: meta.cipher, validators: .all,
      decryptedLimit: options.decryptedMemory ?? SystemMemory.bytes / 4)
    let recovery = Recovery(storage: storage, store: store, meta: meta)
    var found: Recovery.Recovered?
    if isFirst {
      found = writes ? try recovery.recover(tables, .alone) : try recovery.publishUnrecovered(tables)
    } else {
      guard let current = tables.versions.version(tables.block.current) else {
        throw .inUse(path: storage.path)
      }
      let length = try storage.length()
      guard length >= current.end else {
        throw .truncated(path: storage.path, length: length, needed: current.end)
      }
      tables.participants.strikeOffTheDead(tables.readers, except: nil)
    }
    if isListed { _ = try storage.lock(.presence, waits: true) }
    held = HeldVersions(tables, participant: try tables.participants.enter())
    writer =
      writes
      ? Writer(
        store, held, tables, MetaPageWriter(meta.constants, found?.stamp ?? meta.lastRecovery),
        key: options.encryptionKey, options) : nil
    fellBackTo = found?.stamp?.version
    guard let writer, let found else { return }
    do throws(StorageError) {
      try writer.gate.finishRecovery(found)
    } catch {
      // The version that was found may not be on the disk, so the file must not be closed as if it were.
      writer.context.shut()
      throw error
    }
  }

  private static func meta(_ storage: any Storage, key: [UInt8]?) throws(StorageError) -> MetaPair {
    try storage.readMeta { () throws(StorageError) in
      let meta = try MetaPair(storage: storage, key: key)
      return (meta, meta.pages.allSatisfy { $0 != nil })
    }
  }
}
