import RealmServer
import RealmStorage
import RealmSync
import RealmSyncClient
import RealmTestSupport

/// Losses of power, copies of files, and servers that continue from an older copy.
extension Simulation {
  /// The commits of a client that are noted in its file or in the server's file.
  func noted(_ client: Client, in database: Database) throws -> Set<Int> {
    let transaction = try database.beginWrite()
    defer { transaction.cancel() }
    guard let objects = try transaction.table(ModelClass.name),
      let row = try objects.row(withPrimaryKey: .int(client.logKey)),
      let set = objects.schema.columns.first(where: { $0.name == "s" })
    else { return [] }
    let elements = try objects.reading().value(set, ofRow: row)?.elements ?? []
    return Set(elements.compactMap { if case .int(let number) = $0 { Int(number) } else { nil } })
  }

  /// Lets the server lose power. Everything that the server has told clients survives.
  private func losePowerOfServer() throws {
    guard let file = try serverFile.afterPowerLoss(&generator) else { return }
    count.powerLosses += 1
    serverFile = file
    try restart()
    let version = state.version
    past = past.filter { $0.key <= version }
  }

  func losePower(_ client: Client) throws {
    if generator.chance(30) { return try losePowerOfServer() }
    guard let file = try client.file.afterPowerLoss(&generator) else { return }
    count.powerLosses += 1
    if client.connection != nil { try lose(client) }
    client.use(file)
    let left = try noted(client, in: file.database)
    guard Set(client.written.prefix(client.durable)).isSubset(of: left) else {
      throw Failure(kind: .lost, description: "\(client.user) has lost durable commits with its power")
    }
    client.written.removeAll { !left.contains($0) }
    client.durable = client.written.count
    client.hasLostPower = true
    // Query sets that were made and not used may also be lost.
    let newest = try inFile(client) { $0.newestQuerySet }
    client.querySets = Array(client.querySets.prefix(Int(newest) + 1))
  }

  /// Copies a file. At a later call the copy replaces the file, or is used beside it.
  func copyFile(_ client: Client) throws {
    guard client.partition == nil, let index = clients.firstIndex(where: { $0 === client }) else { return }
    if generator.chance(50) {
      guard let file = try client.file.copy() else { return }
      clientCopies.append((index, file, client.written))
      return
    }
    guard let place = clientCopies.indices.last(where: { clientCopies[$0].client == index }) else { return }
    count.copies += 1
    mayReset = true
    let copy = clientCopies.remove(at: place)
    let atServer = try noted(client, in: database)
    if clients.count < 5, generator.chance(50) {
      let other = Client(copy.file, user: client.user, partition: nil)
      (other.querySets, other.isReset, other.isCopied) = (client.querySets, true, true)
      other.written = copy.written
      clients.append(other)
    } else {
      if client.connection != nil { try lose(client) }
      // Commits that the file has made since it was copied are lost with it, unless the server has them.
      client.written.removeAll { !copy.written.contains($0) && !atServer.contains($0) }
      client.use(copy.file)
      client.durable = 0
    }
    (client.isCopied, client.isReset) = (true, true)
    client.unpredictable = Set(0..<Int64(keys))
    try alignQuerySets()
  }

  /// Forgets the query sets that were made after the copies from which files were restored.
  private func alignQuerySets() throws {
    for client in clients {
      let newest = try inFile(client) { $0.newestQuerySet }
      client.querySets = Array(client.querySets.prefix(Int(newest) + 1))
    }
  }

  /// Copies the server's file. At a later call the server continues from the copy.
  func copyServer() throws {
    try runServer()
    guard generator.chance(50), let copy = serverCopy else {
      serverCopy = try serverFile.copy()
      return
    }
    count.restores += 1
    mayReset = true
    serverCopy = nil
    for client in clients {
      // The commits that only the lost server had are lost. They may come back from a file that does not know that they
      // are decided.
      let (had, left) = (try noted(client, in: database), try noted(client, in: copy.database))
      client.written.removeAll { had.contains($0) && !left.contains($0) }
      // Pending changes of an object that the server has lost are lost with the object.
      if !had.isEmpty, left.isEmpty { client.isWritingToLost = true }
      (client.isReset, client.isCopied) = (true, true)
      client.unpredictable = Set(0..<Int64(keys))
    }
    serverFile = copy
    try restart()
    let version = state.version
    past = past.filter { $0.key <= version }
  }
}
