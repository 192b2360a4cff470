import SyncPrograms

/// S11: the time that a change takes from one device to another while the server is otherwise idle.
struct DelayRow {
  let setting: Setting

  private static let changes = 500

  func run(_ figures: Figures) throws {
    note("S11: changes on an idle server")
    for _ in 0..<setting.rounds { try setting.withServer { server in try run(server, figures) } }
  }

  private func run(_ server: ServerProgram, _ figures: Figures) throws {
    let pair = try Pair(setting, of: server.address, and: server.address)
    defer { pair.end() }
    let delays = try pair.change(Self.changes, pause: 20)
    let name = "S11 a change, from its commit to an observer elsewhere, on an idle server"
    figures.add("\(name): p50", delays.percentile(50), "ms", .atMost(10))
    figures.add("\(name): p99", delays.percentile(99), "ms", .atMost(50))
  }
}

/// S11: the same time while a client uploads many objects, and another one downloads many.
struct LoadedDelayRow {
  let setting: Setting

  func run(_ server: ServerProgram, _ figures: Figures) throws {
    note("S11: changes while \(setting.objects.grouped) objects go up, and as many down")
    let uploader = try setting.client(
      .upload, of: server.address,
      ["--content", "items", "--objects", "\(setting.objects)", "--commit", "1000"])
    defer { uploader.end() }
    try uploader.answer("ready", within: Setting.patience)
    let downloader = try setting.client(
      .download, of: server.address, ["--content", "persons", "--objects", "\(setting.objects)"])
    defer { downloader.end() }
    try downloader.answer("ready")
    let pair = try Pair(setting, of: server.address, and: server.address)
    defer { pair.end() }
    try pair.begin(pause: 20)
    try uploader.tell("go")
    try downloader.tell("go")
    let upload = try uploader.answer("uploaded", 1, within: Setting.patience)[0]
    let download = try downloader.answer("downloaded", 4, within: Setting.patience)[0]
    let delays = try pair.stop()
    note(
      "S11: the upload took \(upload) s, the download \(download) s. "
        + "Of \(delays.count) changes the median took \(delays.percentile(50)) ms.")
    figures.add(
      "S11 the same while others upload and download \(setting.objects.grouped) objects: p99",
      delays.percentile(99), "ms", .atMost(250))
  }
}
