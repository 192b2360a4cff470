/// The content of the meta pages of a file, and facts of the version that was opened.
package struct FileInfo: Sendable {
  package struct Page: Sendable {
    package var state: State
    package var version: UInt64
    package var durable: UInt64
    package var time: UInt64
    package var pageCount: Int
    package var isClean: Bool
    /// True if the page has the number of the last draft instead of that of the format.
    package var isLastDraft = false
  }

  package enum State: String, Sendable {
    case sound
    case damaged
    case foreign = "not a meta page"
    case otherFormat = "of another format"
  }

  package var pages: [Page]
  package var fileID: [UInt8]
  package var isEncrypted: Bool
  package var fileLength: UInt64
  /// The number of the version that was opened. The facts that follow are about this version.
  package var version: UInt64
  package var schemaVersion: UInt64
  package var treeCount: Int
  package var tableCount: Int
  /// The number of rows of all tables.
  package var rowCount: Int
  /// The number of changesets of a synced file that are not acknowledged; nil for a file that is not synced.
  package var changesetCount: Int?
  /// The time of the last recovery that rejected a meta page, in nanoseconds since 1970, and the version that it
  /// opened.
  package var lastRecovery: (time: UInt64, version: UInt64)?
  /// True if both meta pages are sound, marked clean and name one version.
  package var isCleanlyClosed: Bool
  /// True if a library of the last draft wrote the file, and no library of the format did: see `MetaPage.lastDraft`.
  package var isLastDraft: Bool { pages.allSatisfy { $0.isLastDraft || $0.state != .sound } }

  /// Reads only the meta pages. The nodes that they lead to may be damaged.
  package static func pages(of database: Database) throws(StorageError) -> [Page] {
    try readPages(of: database).map(\.page)
  }

  /// Each meta page, with its content if it is sound.
  private static func readPages(
    of database: Database
  ) throws(StorageError) -> [(page: Page, meta: MetaPage?)] {
    try database.store.storage.readMeta { () throws(StorageError) in
      let pages = try readPagesOnce(of: database)
      return (pages, pages.allSatisfy { $0.meta != nil })
    }
  }

  private static func readPagesOnce(
    of database: Database
  ) throws(StorageError) -> [(page: Page, meta: MetaPage?)] {
    var pages: [(Page, MetaPage?)] = []
    for page in 0..<2 {
      let bytes = try database.store.storage.read(FilePlace.page, at: UInt64(page * FilePlace.page))
      var state: State
      switch MetaPage.read(bytes) {
      case .sound(let meta):
        state = database.store.isAuthentic(bytes) ? .sound : .damaged
        let found = Page(
          state: state, version: meta.version.number, durable: meta.durable, time: meta.time,
          pageCount: meta.version.pageCount, isClean: meta.isClean,
          isLastDraft: MetaPage.Number(bytes).isLastDraft)
        pages.append((found, state == .sound ? meta : nil))
        continue
      case .foreign: state = .foreign
      case .otherFormat: state = .otherFormat
      case .damaged, .newerOrDamaged: state = .damaged
      }
      pages.append((Page(state: state, version: 0, durable: 0, time: 0, pageCount: 0, isClean: false), nil))
    }
    return pages
  }

  package init(_ database: Database) throws(StorageError) {
    let storage = database.store.storage
    let read = try Self.readPages(of: database)
    pages = read.map(\.page)
    let known = read.compactMap(\.meta)
    guard let constants = known.first?.constants else {
      throw MetaPair.noPage(.metaPages, path: storage.path)
    }
    fileID = constants.fileID
    isEncrypted = constants.isEncrypted
    fileLength = try storage.length()
    let snapshot = try database.snapshot()
    version = snapshot.version
    schemaVersion = try Catalogue(snapshot.root, snapshot.access()).schemaVersion
    treeCount = try snapshot.treeNames().count
    let tables = try snapshot.tables()
    tableCount = tables.count
    // The sum of forged counts may exceed the greatest number.
    rowCount = tables.reduce(0) { sum, table in
      let (next, overflow) = sum.addingReportingOverflow(table.count)
      return overflow ? .max : next
    }
    changesetCount = try snapshot.changelog()?.count(snapshot)
    let recovered = known.max { $0.recoveryTime < $1.recoveryTime }
    lastRecovery = recovered.flatMap { $0.recoveryTime == 0 ? nil : ($0.recoveryTime, $0.recoveredTo) }
    isCleanlyClosed = known.count == 2 && known.allSatisfy(\.isClean) && known[0].version == known[1].version
  }
}

extension NodeStore {
  /// True if the writer of a meta page had the key. In a plain file every sound page is authentic.
  func isAuthentic(_ page: [UInt8]) -> Bool { cipher.map { MetaPage.isAuthentic(page, cipher: $0) } ?? true }
}

extension Snapshot {
  /// All tables except hidden ones, by id. Reads the node that each table starts from, but not its rows.
  package func tables() throws(StorageError) -> [Table] {
    let access = access()
    let catalogue = try Catalogue(root, access)
    var tables: [Table] = []
    for schema in try database.schemas(catalogue, access) where !schema.isHidden {
      let root = try Tables.root(of: schema.id, catalogue, access)
      tables.append(Table(schema: schema, root: root, reader: self))
    }
    return tables
  }
}
