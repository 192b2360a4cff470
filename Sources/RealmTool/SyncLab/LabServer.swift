import RealmInterchange
import RealmServer
import RealmStorage
import RealmSync

/// The server of a lab, which has one node.
final class LabServer {
  private struct Running {
    let database: Database
    let node: ServerNode
    let sync: SyncServer
  }

  private let folder: LabFolder
  private let clock: LabClock
  private(set) var settings: LabSettings
  private var running: Running

  var database: Database { running.database }
  var state: ServerState { running.node.state }
  var sync: SyncServer { running.sync }

  init(_ folder: LabFolder, _ clock: LabClock) throws {
    (self.folder, self.clock) = (folder, clock)
    settings = try folder.settings(of: folder.server)
    running = try Self.open(folder, settings)
    guard !running.database.isOpenElsewhere else {
      throw LabProblem(
        "server.realm is open in another program.", "End the other lab, or give this one another folder.")
    }
  }

  private static func open(_ folder: LabFolder, _ settings: LabSettings) throws -> Running {
    let database = try Database(path: folder.server)
    let log = try EmbeddedLog(after: database, settings: settings.ofServer)
    let node = try ServerNode(database, settings: settings.ofServer, log: log)
    var limits = ServerLimits()
    limits.registrations = .max
    // The server then tells each version even to sessions that it does not concern, so that no synced device is behind.
    limits.idleVersions = 1
    let sync = SyncServer(node, limits: limits, draw: draw)
    // All devices and the server use the clock of this machine, and the lab may not have been used for a long time.
    sync.acceptsClock = true
    return Running(database: database, node: node, sync: sync)
  }

  /// A random number. All of them take the same number of bytes in a message, so that the sizes of messages are the
  /// same in each run.
  private static func draw() -> UInt64 { .random(in: 1 << 62..<1 << 63) }

  func close() { running.database.close() }

  /// Starts the server again from its file.
  ///
  /// - Precondition: no device is connected. This is also a precondition of `addField` and `restore`.
  func restart() throws {
    running.database.close()
    running = try Self.open(folder, settings)
  }

  func addField(_ property: String, of table: String) throws {
    settings.add(property, of: table)
    try folder.write(settings, of: folder.server)
    try restart()
  }

  // MARK: - Entries of the log

  private func append(_ entry: LogEntry) throws(StorageError) {
    try running.node.append(entry, tag: Self.draw(), time: clock.now())
  }

  /// Adds a rule, which replaces an earlier rule for the same class and right. The server applies it when it runs next.
  func add(_ rule: LabRule) throws {
    var new = settings
    new.add(rule)
    let rules = AccessRules(read: try filters(.read, new), write: try filters(.write, new))
    try append(.rules(user: nil, rules))
    settings = new
    try folder.write(settings, of: folder.server)
  }

  private func filters(_ right: LabRule.Right, _ settings: LabSettings) throws -> ClassFilters {
    var filters = ClassFilters.everything
    let snapshot = try database.snapshot()
    for rule in settings.rules where rule.right == right {
      let schema = try snapshot.table(rule.table)?.schema
      do throws(FilterProblem) {
        filters.byClass[rule.table] = try FieldFilter.parse(
          rule.predicate, of: rule.table, fields: settings.fields[rule.table] ?? [], purpose: .rule
        ) { name in
          schema?.columns.first { $0.name == name && $0.collection == .none }?.type
        }
      } catch {
        throw LabProblem(error.text + ".", "Properties are let into filters by: field CLASS PROPERTY")
      }
    }
    return filters
  }

  /// Forgets the history before a version. The server does this when it runs next.
  func trim(to horizon: UInt64) throws(StorageError) { try append(.trim(horizon: horizon)) }

  // MARK: - Copies

  func save(_ name: String) throws {
    let copy = folder.saved(name)
    guard !folder.exists(copy) else {
      throw LabProblem("There is a copy '\(name)' of the server already.", "Give this one another name.")
    }
    try database.snapshot().copy(to: copy)
    try folder.write(settings, of: copy)
  }

  func restore(_ name: String) throws {
    let copy = folder.saved(name)
    guard folder.exists(copy) else {
      throw LabProblem(
        "There is no copy '\(name)' of the server.", "Make one before by: save server \(name)")
    }
    let old = try folder.settings(of: copy)
    do {
      var options = DatabaseOptions.reading(nil)
      options.leavesNothing = true
      let saved = try Database(path: copy, options: options)
      defer { saved.close() }
      running.database.close()
      _ = try Database.removeFiles(path: folder.server)
      try saved.snapshot().copy(to: folder.server)
    }
    settings = old
    try folder.write(settings, of: folder.server)
    running = try Self.open(folder, settings)
  }
}
