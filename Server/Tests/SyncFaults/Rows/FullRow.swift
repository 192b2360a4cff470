/// The disk of a client is full for a while, and then the disk of the server.
struct FullRow {
  let scene: Scene

  func run() throws -> [Report] {
    [
      try report(of: "client") { disk in try FullClient(scene: scene, disk: disk).run() },
      try report(of: "server") { disk in try FullServer(scene: scene, disk: disk).run() },
    ]
  }

  private func report(of side: String, _ body: (SmallDisk) throws -> Report) throws -> Report {
    guard let disk = try SmallDisk(scene.newFolder("disk"), mebibytes: 24) else {
      return .skipped("full-\(side)", because: "no tmpfs may be mounted here")
    }
    defer { disk.end() }
    return try body(disk)
  }
}
