import SyncPrograms

/// S14: the bytes on the network for a change of one number, with the framing of WebSockets.
struct BytesRow {
  let setting: Setting

  private static let changes = 200

  func run(_ figures: Figures) throws {
    note("S14: bytes of a change")
    try setting.withServer { server in
      let writing = try CountingProxy(for: server.port)
      defer { writing.end() }
      let observing = try CountingProxy(for: server.port)
      defer { observing.end() }
      let pair = try Pair(setting, of: writing.address, and: observing.address)
      defer { pair.end() }
      // Answers to earlier changes may still arrive.
      try Interruption.wait(seconds: 0.5)
      (writing.counts, observing.counts) = (CountingProxy.Counts(), CountingProxy.Counts())
      // Each change is sent alone.
      _ = try pair.change(Self.changes, pause: 50)
      try Interruption.wait(seconds: 0.5)
      let (up, down) = (writing.counts, observing.counts)
      func each(_ bytes: Int) -> Double { Double(bytes) / Double(Self.changes) }
      let name = "S14 a change of one number"
      figures.add(
        "\(name): bytes of the device that makes it", each(up.both), "bytes", .atMost(150), digits: 0)
      figures.add(
        "\(name): bytes of the device that sees it", each(down.both), "bytes", .atMost(150), digits: 0)
      figures.add(
        "\(name): bytes of both devices", each(up.both + down.both), "bytes", .atMost(300), digits: 0)
      note(
        "S14: who makes it sends \(each(up.toServer)) and gets \(each(up.toDevice)), who sees it sends "
          + "\(each(down.toServer)) and gets \(each(down.toDevice)) bytes.")
    }
  }
}
