import RealmInterchange
import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient

/// Devices and a server that use the files of a folder, and the commands that act on them.
///
/// Nothing is simulated but the network and the clock: sessions, files and merging are those of the library. The lab
/// carries the bytes of messages between devices and server, and gives them the time.
final class Lab {
  let folder: LabFolder
  let clock = LabClock()
  let server: LabServer
  var devices: [LabDevice] = []
  /// The messages that the last sync or kill carried, and their effects.
  var log: [String] = []

  init(_ path: String) throws {
    folder = try LabFolder(path)
    server = try LabServer(folder, clock)
    for facts in try folder.devices() {
      devices.append(try LabDevice(facts, path: folder.device(facts.name)))
    }
  }

  func close() {
    for device in devices { device.database.close() }
    server.close()
  }

  func say(_ text: String) throws(OutputError) { try Output.line(Wording.shown(text)) }

  /// Executes a line.
  ///
  /// - Returns: false if the line ends the lab.
  func run(_ line: String) throws -> Bool {
    guard let command = try LabParser.command(line) else { return true }
    if command == .quit { return false }
    try run(command)
    return true
  }

  private func run(_ command: LabCommand) throws {
    switch command {
    case .make(let name, let user, let query): try make(name, user, query)
    case .copy(let source, let name): try copy(source, to: name)
    case .connect(let name, let isOnline): try setOnline(name, isOnline)
    case .write(let name, let change): try write(try device(name), change)
    case .subscribe(let name, let query): try subscribe(name, query.table, query.predicate)
    case .unsubscribe(let name, let table): try subscribe(name, table, nil)
    case .sync(let name): try sync(name)
    case .kill(let name): try kill(try device(name))
    case .show(let object): try LabShow(self).show(object)
    case .pending(let name): try showPending(try device(name))
    case .dismiss(let name): try dismiss(try device(name))
    case .log: try say(log.isEmpty ? "Nothing was carried yet." : log.joined(separator: "\n"))
    case .help: try say(LabHelp.text)
    case .quit: break
    case .rule, .field, .trim, .save, .restore, .restart: try administer(command)
    }
  }

  private func administer(_ command: LabCommand) throws {
    switch command {
    case .rule(let rule):
      try server.add(rule)
      try runServer()
    case .field(let table, let property):
      guard server.settings.fields[table]?.contains(property) != true else {
        return try say("Filters may look at \(table).\(property) already.")
      }
      dropAll()
      try server.addField(property, of: table)
      try say("Filters may look at \(table).\(property). The server was restarted.")
    case .trim(let isAll): try trim(isAll: isAll)
    case .save(let name): try server.save(name)
    case .restore(let name):
      dropAll()
      try server.restore(name)
      try say("The server goes on from the copy '\(name)', at version \(server.state.version).")
    case .restart:
      dropAll()
      try server.restart()
    default: break
    }
  }

  // MARK: - Devices

  func device(_ name: String) throws(LabProblem) -> LabDevice {
    if let device = devices.first(where: { $0.name == name }) { return device }
    let names = devices.map(\.name).joined(separator: ", ")
    throw LabProblem(
      "There is no device '\(name)'.",
      names.isEmpty
        ? "Make it before by: new \(name)" : "The devices are: \(names). Make one by: new \(name)")
  }

  private func checkNew(_ name: String) throws(LabProblem) {
    guard !LabParser.reserved.contains(name) else {
      throw LabProblem(
        "No device may be called '\(name)', which is a word of the lab.", "Take another name.")
    }
    let isTaken = devices.contains { $0.name == name } || folder.exists(folder.device(name))
    guard !isTaken else {
      throw LabProblem("There is a file \(name).realm already.", "Take another name, or another folder.")
    }
  }

  private func make(_ name: String, _ user: String?, _ query: LabQuery?) throws {
    try checkNew(name)
    var facts = LabDevice.Facts(name: name, user: user ?? name)
    if let query {
      facts.showsOthers = false
      facts.subscribe(query.table, query.predicate)
    }
    devices.append(try LabDevice(facts, path: folder.device(name)))
    try store()
  }

  private func copy(_ source: String, to name: String) throws {
    let source = try device(source)
    try checkNew(name)
    try source.database.snapshot().copy(to: folder.device(name))
    var facts = source.facts
    facts.name = name
    devices.append(try LabDevice(facts, path: folder.device(name)))
    try store()
  }

  private func store() throws { try folder.write(devices.map(\.facts)) }

  private func setOnline(_ name: String, _ isOnline: Bool) throws {
    let device = try device(name)
    device.facts.isOnline = isOnline
    device.problem = nil
    if !isOnline { drop(device) }
    try store()
  }

  private func dismiss(_ device: LabDevice) throws {
    try device.database.write { transaction in
      do throws(ClientProblem) {
        let file = try ClientFile(transaction)
        try file.forgetRefusals(upTo: file.refusals().last?.number ?? 0)
      } catch { throw error.thrown }
    }
  }

  // MARK: - Changes

  /// The names of all classes in any file of the lab. They stand for the classes with which an app would be built.
  func tables() throws(StorageError) -> Set<String> {
    var names: Set<String> = []
    for database in [server.database] + devices.map(\.database) {
      for schema in try database.snapshot().schemas() where !schema.isEmbedded { names.insert(schema.name) }
    }
    return names
  }

  private func write(_ device: LabDevice, _ change: LabChange) throws {
    var tables = try tables()
    if case .create(let table, _) = change { tables.insert(table) }
    let note = try device.database.write { transaction in
      try transaction.setTime(clock.now())
      // An object can be made only if a query of the device shows it, so the queries are set first.
      try device.subscribe(tables, transaction)
      return try LabWriter(transaction, device: device.name).write(change)
    }
    if let note { try say(note) }
    try offer(device)
  }

  private func subscribe(_ name: String, _ table: String, _ predicate: String?) throws {
    let device = try device(name)
    device.facts.subscribe(table, predicate)
    try store()
    try device.subscribe(try tables())
    try offer(device)
  }

  // MARK: - Looking

  private func showPending(_ device: LabDevice) throws {
    let earlier = try device.reading { $0.position.earlierSequences }
    var lines: [String] = []
    let snapshot = try device.database.snapshot()
    try snapshot.changelog()?.forEach(snapshot) { (stored) throws(StorageError) in
      let sequence = stored.sequence - min(earlier, stored.sequence)
      do throws(ChangesetDamage) {
        lines += try LabDevice.text(stored, sequence: sequence)
      } catch {
        lines.append("changeset \(sequence) can't be read: \(error)")
      }
      return true
    }
    try say(lines.isEmpty ? "Nothing is pending in \(device.name)." : lines.joined(separator: "\n"))
  }

  // MARK: - The history of the server

  private func trim(isAll: Bool) throws {
    var horizon = server.state.version
    if !isAll {
      for device in devices {
        let known = try device.reading { file in
          file.number == .max ? UInt64.max : min(file.position.version, try file.leastBase() ?? .max)
        }
        horizon = min(horizon, known)
      }
    }
    let old = server.state.horizon
    guard horizon > old else {
      let reason = isAll ? "" : " that the devices do not need"
      return try say("The server has no history\(reason).")
    }
    try server.trim(to: horizon)
    try runServer()
    try say("The server forgets what was before version \(server.state.horizon).")
  }
}
