/// Workload 20: the size of a file while readers stay on old versions, and after they have ended.
struct GrowthStage: Stage {
  static func run(_ setting: Setting, _ findings: inout Findings, _ progress: (String) -> Void) throws {
    // The sizes hardly differ from round to round, so the first round is enough.
    guard setting.round == 1, setting.chose(anyOf: Workload.growth) else { return }
    for contender in setting.contenders {
      progress("\(Workload.pinnedReader.title), \(contender.label)")
      if setting.chose(anyOf: [.freshFile, .pinnedReader, .releasedReader]) {
        try Growth(contender, setting, records: setting.inputs.sizes.records, textBytes: 184)
          .run(.pinnedReader, readers: 1, released: .releasedReader, &findings)
      }
      if setting.chose(.pinnedReaders) {
        try Growth(contender, setting, records: setting.inputs.sizes.records, textBytes: 184)
          .run(.pinnedReaders, readers: 10, released: nil, &findings)
      }
      if setting.chose(.smallFile) {
        try Growth(contender, setting, records: 1_000, textBytes: 684)
          .run(.smallFile, readers: 0, released: nil, &findings)
      }
    }
  }
}

private struct Growth {
  let contender: Contender
  let setting: Setting
  let records: Int
  let textBytes: Int

  static let afterwards = 100

  init(_ contender: Contender, _ setting: Setting, records: Int, textBytes: Int) {
    self.contender = contender
    self.setting = setting
    self.records = records
    self.textBytes = textBytes
  }

  /// Fills a file and commits updates of one record each, while readers begin one after another.
  ///
  /// - Parameter released: the workload that goes on without the readers, or nil.
  func run(_ workload: Workload, readers: Int, released: Workload?, _ findings: inout Findings) throws {
    try setting.withFolder("growth") { folder in
      guard let building = try contender.openRecords(in: folder) else { return }
      try building.fill(count: records, textBytes: textBytes)
      try building.close()
      let fresh = try Measure.size(of: folder)
      if workload == .pinnedReader { note(.freshFile, fresh, of: nil, &findings) }
      guard let file = try contender.openRecords(in: folder) else { return }
      var random = SplitMix64(seed: 20)
      func change() throws { try file.set(random.nextFraction(), of: Int64(random.next(below: records))) }
      let commits = setting.inputs.sizes.pinnedCommits
      var pinned: [() throws -> Void] = []
      for commit in 0..<commits {
        if pinned.count < readers, commit == pinned.count * commits / readers {
          pinned.append(try file.pin())
        }
        try change()
      }
      note(workload, try Measure.size(of: folder), of: fresh, &findings)
      for unpin in pinned { try unpin() }
      if let released {
        for _ in 0..<Self.afterwards { try change() }
        note(released, try Measure.size(of: folder), of: fresh, &findings)
      }
      try findings.compare(workload.title, file.sum(), contender)
      try file.close()
    }
  }

  private func note(_ workload: Workload, _ bytes: Int, of fresh: Int?, _ findings: inout Findings) {
    guard setting.chose(workload) else { return }
    findings.note(workload, contender, .fileMebibytes, Double(bytes) / 1_048_576)
    if let fresh { findings.note(workload, contender, .ratio, Double(bytes) / Double(fresh)) }
  }
}
