import Foundation
import RealmStorage
import Synchronization

/// A realm that is open in this process. All threads that use it share this object.
final class RealmFile: Sendable {
  let database: Database
  /// The classes with which realms of the file were opened.
  let classes = KnownClasses()
  /// The configuration with which the file was opened first.
  let configuration: Realm.Configuration
  private let boundVersion = Mutex<UInt64>(0)
  private let place: String
  /// Waits for the writer's lock and for the disk on behalf of sessions.
  let disk = DiskQueue()
  private let sessions = Mutex<[SessionKey: KnownSession]>([:])
  private let watching = Mutex<(any FileWatcher)?>(nil)
  /// The sync of a synced file, from the moment the file is open. It keeps the file open until it ends.
  private let syncing = Mutex<(any FileSync)?>(nil)

  /// Identifies a session. A file has at most one session for each key.
  private enum SessionKey: Hashable {
    case live(Scheduler)
    case frozen(version: UInt64, schema: ObjectIdentifier)
    /// A session that names objects and has no version. References from one session to another use it.
    case naming(schema: ObjectIdentifier)
  }

  /// An entry for a session that has not ended. The last act of the session is to remove this entry under the lock.
  private struct KnownSession: @unchecked Sendable {
    // Sendable: the reference is looked at under the lock, and only the session's owner uses the session.
    private let session: UncountedReference<RealmSession>
    private let holders: HolderCount
    let id: ObjectIdentifier
    let inbox: SchedulerInbox
    /// Whether the session was told about a newer version and has not looked for it yet.
    var isTold = false

    init(_ session: RealmSession) {
      self.session = UncountedReference(session)
      holders = session.holders
      id = ObjectIdentifier(session)
      inbox = session.inbox
    }

    /// A life that keeps the session; nil if the session is ending. The count of holders tells whether it is. An ending
    /// session is not touched: its last holder ends it, and takes the lock for that.
    var life: SessionLife? {
      guard holders.tryToAdd() else { return nil }
      let life = session.counted.life
      // This does not remove the last holder, because the life is another one.
      _ = holders.remove()
      return life
    }
  }

  /// Messages that are logged when no lock is held, because a logger may open realms itself.
  private typealias Notes = [(level: LogLevel, message: String)]

  init(_ configuration: Realm.Configuration, place: String, _ database: Database) {
    self.configuration = configuration
    self.place = place
    self.database = database
  }

  /// The schema version that the file had when its classes were bound to its tables.
  var schemaVersion: UInt64 { boundVersion.withLock { $0 } }

  /// Opens a file that is not open, and makes its tables fit the classes.
  private static func opened(
    _ configuration: Realm.Configuration, place: String, _ models: [ObjectModel], _ notes: inout Notes
  ) throws -> RealmFile {
    let file: RealmFile
    do {
      file = try opened(configuration, place: place, models)
    } catch let error as Realm.Error
      where error.code == .schemaMismatch && configuration.deleteRealmIfMigrationNeeded
    {
      notes.append((.warn, "\(place) is made anew, with nothing in it: \(error.localizedDescription)"))
      try removeFiles(configuration)
      // The seed file may be what does not fit.
      var empty = configuration
      empty.seedFilePath = nil
      file = try opened(empty, place: place, models)
    }
    if let version = file.database.fellBackTo {
      notes.append(
        (.warn, "\(place) was opened at version \(version): a later one was not whole, as after a crash."))
    }
    notes.append(
      (.info, "\(place) is open at version \(file.database.version), with \(models.count) classes."))
    return file
  }

  private static func opened(
    _ configuration: Realm.Configuration, place: String, _ models: [ObjectModel]
  ) throws -> RealmFile {
    let file = RealmFile(configuration, place: place, try open(configuration))
    do {
      var migrator: Migrator?
      let bound = try RealmSchema.bind(models, to: file.database, configuration, isFirst: true) { steps in
        let made = try Migrator(file, steps)
        migrator = made
        return try made.run()
      }
      migrator?.finish()
      file.boundVersion.withLock { $0 = bound.version }
      let list = ClassList(configuration.objectTypes)
      file.classes.keep(file.classes.schema(of: models, bound.tables, list), list)
      return file
    } catch {
      file.database.abandon()
      throw (error as? StorageError).map { Realm.Error($0) } ?? error
    }
  }

  /// Calls `body` with a file that was not open. `body` does what opening it would do, and takes it back.
  ///
  /// - Throws: `Realm.Error`; what the migration block throws.
  static func tryingMigration<Result>(
    _ configuration: Realm.Configuration, _ body: (RealmFile, [ObjectModel]) throws -> Result
  ) throws -> Result {
    configuration.checkSettings()
    let place = place(configuration)
    let models = RealmSchema.models(configuration.objectTypes)
    return try gate.opening(place) {
      guard open.withLock({ $0[place] == nil }) else {
        throw Realm.Error(
          .alreadyOpen, "\(place) is open in this process: let go of its realms and objects first.",
          path: configuration.fileURL?.path)
      }
      let file = RealmFile(configuration, place: place, try open(configuration))
      defer { file.database.close() }
      do {
        return try body(file, models)
      } catch {
        throw (error as? StorageError).map { Realm.Error($0) } ?? error
      }
    }
  }

  private static func open(_ configuration: Realm.Configuration) throws -> Database {
    if let name = configuration.inMemoryIdentifier {
      return try Realm.Error.wrapping { () throws(StorageError) in
        try Database(inMemory: name, isSynced: configuration.syncing != nil)
      }
    }
    try SeedFile.copy(configuration)
    let url = configuration.url
    if url == Realm.Configuration.defaultFileURL, !configuration.isFileReadOnly {
      try? FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    }
    return try Realm.Error.wrapping { () throws(StorageError) in
      try Database(path: url.path, options: options(configuration))
    }
  }

  var isSynced: Bool { configuration.syncing != nil }
  /// Whether the realm is in memory only.
  var isInMemory: Bool { configuration.inMemoryIdentifier != nil }

  static func options(_ configuration: Realm.Configuration) -> Database.Options {
    var options = Database.Options(
      encryptionKey: configuration.encryptionKey.map { Array($0) }, isReadOnly: configuration.isFileReadOnly)
    options.history = configuration.syncing == nil ? .local : .synced
    return options
  }

  // MARK: - Sharing

  private struct Open {
    var file: RealmFile
    var sessions: Int
  }
  private static let open = Mutex<[String: Open]>([:])
  private static let gate = OpeningGate()

  /// The session of the caller, to which the classes of the configuration are added. Each thread, queue or actor that
  /// uses the realm has one session.
  ///
  /// - Parameter isUsed: whether the caller uses a realm of the configuration already, which stays usable when its user
  ///   is removed.
  /// - Throws: `Realm.Error`; what `FileSyncMaker.checkUser` throws.
  static func session(
    _ configuration: Realm.Configuration, _ owner: Scheduler, isUsed: Bool = false
  ) throws -> (SessionLife, RealmView) {
    configuration.checkSettings()
    let place = place(configuration)
    var notes = Notes()
    defer { for note in notes { Logger.shared.log(note.level, note.message) } }
    do {
      if !isUsed { try configuration.syncing?.checkUser(configuration) }
      let entry =
        try open.withLock { open in try existing(&open, place, configuration, owner) }
        ?? first(configuration, place, owner, &notes)
      let life = entry.life
      // This runs outside of the lock, because making tables in an open file waits for the transactions of others.
      let view = try life.session.open(configuration)
      if let maker = configuration.syncing {
        life.session.file.sync?.didOpen()
        try maker.didOpen(Realm(life, view), isFirst: entry.isFirst)
      }
      return (life, view)
    } catch {
      notes.append((.error, "\(place) was not opened: \(error.localizedDescription)"))
      throw error
    }
  }

  private struct Entry {
    let life: SessionLife
    /// Whether no realm of the file was open before in this process.
    let isFirst: Bool
  }

  /// Opens a realm that is not open, and makes its first session.
  private static func first(
    _ configuration: Realm.Configuration, _ place: String, _ owner: Scheduler, _ notes: inout Notes
  ) throws -> Entry {
    // None of this runs under the lock, because it runs code of the program, or stops it if classes can't be stored.
    let models = RealmSchema.models(configuration.objectTypes)
    return try gate.opening(place) {
      // Another thread may have opened the file while this one waited.
      if let entry = try open.withLock({ open in try existing(&open, place, configuration, owner) }) {
        return entry
      }
      compact(configuration)
      let file = try opened(configuration, place: place, models, &notes)
      let life = open.withLock { open in
        open[place] = Open(file: file, sessions: 1)
        return file.newSession(owner)
      }
      file.beginSync()
      return Entry(life: life, isFirst: true)
    }
  }

  /// The session of the owner in a realm that is open, which is made if needed; nil if the realm is not open.
  private static func existing(
    _ open: inout [String: Open], _ place: String, _ configuration: Realm.Configuration, _ owner: Scheduler
  ) throws -> Entry? {
    guard let found = open[place] else { return nil }
    try found.file.check(configuration)
    if let life = found.file.sessions.withLock({ $0[.live(owner)]?.life }) {
      return Entry(life: life, isFirst: false)
    }
    // The sync may be the only user that still has the file open.
    let isFirst = found.sessions == 1 && found.file.sync != nil
    open[place]?.sessions += 1
    return Entry(life: found.file.newSession(owner), isFirst: isFirst)
  }

  private func beginSync() {
    guard let maker = configuration.syncing else { return }
    let sync = maker.begin(self, hold())
    syncing.withLock { $0 = sync }
  }

  /// The sync of the file with a server; nil for a file that is not synced.
  var sync: (any FileSync)? { syncing.withLock { $0 } }

  private func newSession(_ owner: Scheduler) -> SessionLife {
    let life = RealmSession.begin(RealmSession(file: self, owner: owner))
    let entry = KnownSession(life.session)
    sessions.withLock { $0[.live(owner)] = entry }
    return life
  }

  /// The session of a scheduler, which is made if there is none.
  ///
  /// - Precondition: the file has a session of any kind, so that it stays open.
  func liveSession(_ owner: Scheduler) -> SessionLife {
    Self.open.withLock { open in
      if let life = sessions.withLock({ $0[.live(owner)]?.life }) { return life }
      open[place]?.sessions += 1
      return newSession(owner)
    }
  }

  /// The frozen session of a version. All callers with the same classes share it.
  ///
  /// - Parameter snapshot: the version; nil for a session that only names objects.
  /// - Precondition: the file has a session of any kind.
  func frozenSession(
    _ snapshot: Snapshot?, _ schema: RealmSchema, _ configuration: Realm.Configuration
  ) -> SessionLife {
    let classes = ObjectIdentifier(schema)
    let key =
      snapshot.map { SessionKey.frozen(version: $0.version, schema: classes) } ?? .naming(schema: classes)
    if let life = sessions.withLock({ $0[key]?.life }) { return life }
    let session = RealmSession(file: self, freezing: snapshot, schema, configuration)
    Self.open.withLock { $0[place]?.sessions += 1 }
    let life = RealmSession.begin(session)
    let entry = KnownSession(session)
    // If two threads freeze at the same time, the first session counts. The other session ends with its life.
    return sessions.withLock { sessions in
      if let first = sessions[key]?.life { return first }
      sessions[key] = entry
      return life
    }
  }

  /// The queue or actor on which the code is running if the file is open for it; otherwise the scheduler of the thread.
  var schedulerHere: Scheduler {
    let known = sessions.withLock { sessions in
      sessions.keys.compactMap { key -> Scheduler? in
        if case .live(let scheduler) = key { scheduler } else { nil }
      }
    }
    let here = known.first { scheduler in
      switch scheduler {
      case .queue, .actor: scheduler.isHere
      case .thread, .mainQueue, .anyone: false
      }
    }
    return here ?? .current
  }

  /// Tells the other sessions that there is a newer version. They move to it when their thread, queue or actor runs the
  /// call. Sessions of threads that can't be called stay at their version.
  ///
  /// - Parameter session: the session that has committed; nil for a commit of another process or the sync, or for none.
  func didCommit(_ session: RealmSession?) {
    watching.withLock { $0 }?.didCommit()
    if session != nil { sync?.didCommit() }
    let id = session.map { ObjectIdentifier($0) }
    let told = sessions.withLock { sessions in
      // The loop does not use the keys: comparing actors may free one and so end a session, which takes this lock.
      var told: [(key: SessionKey, inbox: SchedulerInbox)] = []
      for index in sessions.indices {
        let known = sessions.values[index]
        guard known.id != id, !known.isTold, known.inbox.isServed else { continue }
        sessions.values[index].isTold = true
        told.append((sessions.keys[index], known.inbox))
      }
      return told
    }
    // The block does not keep the session until it looks for the new version.
    for (key, inbox) in told { inbox.enqueue { [weak self] in self?.autorefresh(key) } }
  }

  private func autorefresh(_ key: SessionKey) {
    let life = sessions.withLock { sessions in
      sessions[key]?.isTold = false
      return sessions[key]?.life
    }
    life?.session.autorefreshNow()
  }

  /// The watcher of the file, which the first call makes.
  func watcher<Watcher: FileWatcher>(_ make: () -> Watcher) -> Watcher {
    watching.withLock { watching in
      if let watcher = watching as? Watcher { return watcher }
      let made = make()
      watching = made
      return made
    }
  }

  /// Removes a session that has ended. If nothing else uses the file, it is closed before anyone can open it again.
  func leave(_ id: ObjectIdentifier) {
    leave {
      self.sessions.withLock { sessions in
        // The entry is not found by its key, whose actor may be gone.
        if let index = sessions.firstIndex(where: { $0.value.id == id }) { sessions.remove(at: index) }
      }
    }
  }

  /// Keeps the file open for a user other than its sessions.
  ///
  /// - Precondition: the file has a session of any kind.
  func hold() -> Hold {
    Self.open.withLock { $0[place]?.sessions += 1 }
    return Hold(self)
  }

  /// Keeps the file open until `end()` is called or this object is freed.
  final class Hold: Sendable {
    let file: RealmFile
    private let hasEnded = Atomic<Bool>(false)

    fileprivate init(_ file: RealmFile) { self.file = file }
    deinit { end() }

    /// Lets go of the file now, even if a thread that handed this object over still refers to it for a moment.
    func end() {
      if !hasEnded.exchange(true, ordering: .acquiringAndReleasing) { file.leave {} }
    }

    /// Lets go of the file if nothing else uses it. Returns true if this or `end()` has let go of it.
    func endIfLast() -> Bool {
      guard !hasEnded.load(ordering: .acquiring) else { return true }
      let isLast = file.leave(ifLast: true) {}
      if isLast { hasEnded.store(true, ordering: .releasing) }
      return isLast
    }
  }

  @discardableResult
  private func leave(ifLast: Bool = false, _ forget: () -> Void) -> Bool {
    // The sync refers to the file, so it is freed outside of the lock.
    let (isClosed, ended) = Self.open.withLock { open -> (Bool, (any FileSync)?) in
      guard var entry = open[place], !ifLast || entry.sessions == 1 else {
        if !ifLast { forget() }
        return (false, nil)
      }
      forget()
      entry.sessions -= 1
      open[place] = entry.sessions > 0 ? entry : nil
      if entry.sessions == 1 { sync?.lastRealmClosed() }
      guard entry.sessions == 0 else { return (false, nil) }
      watching.withLock { $0 }?.fileWillClose()
      sync?.fileWillClose()
      database.close()
      return (true, syncing.withLock { sync in sync.take() })
    }
    withExtendedLifetime(ended) {}
    if isClosed { Logger.shared.log(.detail, "\(place) is closed.") }
    return isClosed
  }

  static func isOpen(_ configuration: Realm.Configuration) -> Bool {
    let place = place(configuration)
    return open.withLock { $0[place] != nil }
  }

  /// Ends the sync of a file if nothing else has the file open.
  static func endIdleSync(_ configuration: Realm.Configuration) { endIdleSync(at: place(configuration)) }

  private static func endIdleSync(at place: String) {
    // Observers that have ended may not have been freed yet.
    open.withLock { $0[place]?.file.watching.withLock { $0 } }?.settle()
    let syncing = open.withLock { open in open[place].flatMap { $0.sessions == 1 ? $0.file.sync : nil } }
    syncing?.end()
  }

  /// Deletes the files of a realm. Returns whether there were any.
  ///
  /// - Parameter losesUnsynced: whether changes that no server has may be lost, or the caller has looked for them.
  /// - Throws: `Realm.Error`.
  static func delete(_ configuration: Realm.Configuration, losesUnsynced: Bool = false) throws -> Bool {
    let place = place(configuration)
    return try gate.opening(place) {
      endIdleSync(at: place)
      guard open.withLock({ $0[place] == nil }) else {
        throw Realm.Error(
          .alreadyOpen, "\(place) is open in this process: let go of its realms and objects first.",
          path: configuration.fileURL?.path)
      }
      // This comes before the search for changes that were not uploaded. A process that has the file open may write some.
      if configuration.syncing != nil || losesUnsynced { waitUntilClosed(configuration.url.path) }
      if !losesUnsynced { try checkIsUploaded(configuration) }
      let didDelete = try configuration.syncing?.willDelete(configuration)
      let wasThere = try removeFiles(configuration)
      didDelete?()
      return wasThere
    }
  }

  @discardableResult
  private static func removeFiles(_ configuration: Realm.Configuration) throws -> Bool {
    guard configuration.inMemoryIdentifier == nil else { return false }
    let path = configuration.url.path
    return try Realm.Error.wrapping { () throws(StorageError) in try Database.removeFiles(path: path) }
  }

  /// Waits at most a second for code that has let go of a synced file but still reads its last version. There is such
  /// code because the sync of a file works on a queue of its own.
  static func waitUntilClosed(_ path: String) {
    for _ in 0..<200 {
      guard (try? Database.isOpen(path: path)) == true else { return }
      Thread.sleep(forTimeInterval: 0.005)
    }
  }

  private static func place(_ configuration: Realm.Configuration) -> String {
    if let name = configuration.inMemoryIdentifier { return "memory:\(name)" }
    return resolved(configuration.url.standardizedFileURL).path
  }

  /// The path without symbolic links, also if the file or its folder does not exist yet.
  private static func resolved(_ url: URL) -> URL {
    let parent = url.deletingLastPathComponent()
    if parent.path == url.path || FileManager.default.fileExists(atPath: url.path) {
      return url.resolvingSymlinksInPath()
    }
    return resolved(parent).appendingPathComponent(url.lastPathComponent)
  }

  /// Throws an error if a configuration has settings that are not possible while the file is open.
  private func check(_ other: Realm.Configuration) throws {
    let path = other.fileURL?.path
    if !Realm.Configuration.isSame(other.syncing, configuration.syncing) {
      throw Realm.Error(
        (other.syncing == nil) != (configuration.syncing == nil) ? .incompatibleHistories : .fail,
        "\(place) is already opened with a different syncConfiguration: with another user, partition or kind of sync, or without sync. "
          + "Open it in the same way, or let go of its realms and objects in this process first.", path: path)
    }
    if other.encryptionKey != configuration.encryptionKey {
      throw Realm.Error(.invalidDatabase, "\(place) is open with another encryption key.", path: path)
    }
    if other.readOnly != configuration.readOnly {
      throw Realm.Error(
        .alreadyOpen,
        "\(place) is open with readOnly = \(configuration.readOnly), and \(other.readOnly) is asked for: open it in the "
          + "same way, or let go of its realms and objects in this process first.", path: path)
    }
    if other.keepsDeletedValues != configuration.keepsDeletedValues {
      throw Realm.Error(
        .alreadyOpen,
        "\(place) is open with keepsDeletedValues = \(configuration.keepsDeletedValues), and \(other.keepsDeletedValues) is "
          + "asked for: open it in the same way, or let go of its realms and objects in this process first.",
        path: path)
    }
    let version = configuration.keepsSchema ? schemaVersion : configuration.schemaVersion
    if other.schemaVersion != version, !other.keepsSchema {
      let means = other.migrationBlock == nil ? "" : ", whose migrationBlock would have to be called"
      throw Realm.Error(
        .alreadyOpen,
        "\(place) is open with schemaVersion = \(version), and \(other.schemaVersion) is asked for\(means): "
          + "a file has one version while it is open. Set schemaVersion to \(version), or let go of its "
          + "realms and objects in this process first.", path: path)
    }
  }
}
