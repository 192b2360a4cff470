import SyncPrograms

/// The rows with a server that has many persons.
struct People {
  let setting: Setting
  let rows: Set<String>

  func run(_ figures: Figures) throws {
    try setting.withServer { server in
      try fill(server)
      if rows.contains("S10") { try DownloadRow(setting: setting).run(server, figures) }
      if rows.contains("S11") { try LoadedDelayRow(setting: setting).run(server, figures) }
    }
  }

  /// Lets a client make the persons.
  private func fill(_ server: ServerProgram) throws {
    note("A client makes \(setting.objects.grouped) persons.")
    let arguments = ["--content", "persons", "--objects", "\(setting.objects)", "--commit", "10000"]
    let client = try setting.client(.upload, of: server.address, arguments)
    defer { client.end() }
    try client.answer("ready", within: Setting.patience)
    try client.tell("go")
    try client.answer("uploaded", 1, within: Setting.patience)
  }
}

/// S10: a new client downloads all persons while its app writes.
struct DownloadRow {
  let setting: Setting

  func run(_ server: ServerProgram, _ figures: Figures) throws {
    note("S10: a bulk insert, and a first download")
    let bulk = try BulkInsert.seconds(of: setting.objects, in: setting.newFolder("bulk"))
    let client = try setting.client(
      .download, of: server.address, ["--content", "both", "--objects", "\(setting.objects)", "--writes"])
    defer { client.end() }
    try client.answer("ready")
    try client.tell("go")
    let found = try client.answer("downloaded", 4, within: Setting.patience)
    let (seconds, memory, p50, p99) = (found[0], found[1], found[2], found[3])
    let name = "S10 first download of \(setting.objects.grouped) objects"
    figures.add(name, seconds, "s", .atMost(bulk * 4))
    figures.add("\(name), against a bulk insert", bulk / seconds * 100, "%", .atLeast(25))
    figures.add("\(name): p99 of the app's writes", p99, "ms", .atMost(100))
    let peak = try client.answer("peak", 1)[0]
    note("S10: the median of the app's writes is \(p50) ms; with mapped pages the client held \(peak) bytes.")
    // If the system does not report the memory of a process, there is no figure.
    guard peak > 0 else { return note("S10: this system does not tell how much memory a client holds.") }
    figures.add("\(name): memory of the client", memory / 1_048_576, "MiB", .atMost(64), digits: 0)
  }
}
