import SyncPrograms

/// S12: many clients are connected and idle.
struct CrowdRow {
  let setting: Setting

  private static let clients = 1000
  /// The number of files that a user may register in a minute.
  private static let filesOfUser = 10

  func run(_ figures: Figures) throws {
    note("S12: \(Self.clients.grouped) clients connect, and are idle for \(setting.idleSeconds) s")
    try setting.withServer { server in
      let crowd = try setting.client(.crowd, of: server.address, ["--objects", "\(Self.filesOfUser)"])
      defer { crowd.end() }
      for number in 0..<Self.clients / Self.filesOfUser { try crowd.tell(try server.key("user \(number)")) }
      try crowd.tell("end")
      try expectAll(crowd, within: 600)
      // The remaining work of the connections is done by then.
      try Interruption.wait(seconds: 10)
      let before = server.processorSeconds
      let start = ContinuousClock.now
      try Interruption.wait(seconds: Double(setting.idleSeconds))
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      let (after, memory) = (server.processorSeconds, server.memory)
      try crowd.tell("look")
      try expectAll(crowd, within: 60)
      guard let before, let after, let memory else {
        return note("S12: this system does not tell what a process uses.")
      }
      let name = "S12 \(Self.clients.grouped) clients are connected and idle"
      figures.add("\(name): memory of the server", Double(memory) / 1_048_576, "MiB", .atMost(100), digits: 0)
      figures.add("\(name): the server, of one processor", (after - before) / seconds * 100, "%", .atMost(2))
    }
  }

  private func expectAll(_ crowd: Program, within seconds: Double) throws {
    let connected = Int(try crowd.answer("connected", 1, within: seconds)[0])
    guard connected == Self.clients else {
      throw Program.Failure("\(connected) clients of \(Self.clients) are connected.")
    }
  }
}
