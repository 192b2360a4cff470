import SyncPrograms

/// S9: the upload of changes that were made without a connection.
struct UploadRow {
  let setting: Setting

  private static let objects = 100_000
  private static let commit = 100

  func run(_ figures: Figures) throws {
    note("S9: an upload")
    for _ in 0..<setting.rounds { try setting.withServer { server in try run(server, figures) } }
  }

  private func run(_ server: ServerProgram, _ figures: Figures) throws {
    let arguments = ["--content", "items", "--objects", "\(Self.objects)", "--commit", "\(Self.commit)"]
    let client = try setting.client(.upload, of: server.address, arguments)
    defer { client.end() }
    try client.answer("ready", within: 600)
    try client.tell("go")
    let seconds = try client.answer("uploaded", 1, within: 600)[0]
    figures.add(
      "S9 upload of \(Self.objects.grouped) objects, in commits of \(Self.commit)",
      Double(Self.objects) / seconds, "objects/s", .atLeast(40_000), digits: 0)
  }
}
