import Foundation

/// Workloads 16 to 18, on a file of Persons and of Tasks that they own.
struct LinkStage: Stage {
  static func run(_ setting: Setting, _ findings: inout Findings, _ progress: (String) -> Void) throws {
    let chosen = Workload.links.filter(setting.chose)
    guard !chosen.isEmpty else { return }
    progress("Persons with Tasks")
    try setting.withFolder("links") { folder in
      let engines = try setting.contenders.map { contender in
        (contender: contender, engine: try build(contender, setting.inputs, folder + "/" + contender.label))
      }
      for workload in chosen {
        progress(workload.title)
        for (contender, engine) in engines {
          try findings.note(workload, contender, ask(workload, engine, setting.inputs))
        }
      }
      for (_, engine) in engines { try engine.close() }
    }
  }

  private static func build(_ contender: Contender, _ inputs: Inputs, _ folder: String) throws -> any Engine {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    _ = try BulkInsert.runInProcess(contender, count: inputs.count, folder: folder)
    let engine = try contender.open(in: folder, count: inputs.count)
    try engine.insertTasks(TaskSource(count: inputs.count / 5, people: inputs.count))
    // Reads each page once, so that the first workload has no disadvantage.
    _ = try engine.iterate()
    return engine
  }

  private static func ask(_ workload: Workload, _ engine: any Engine, _ inputs: Inputs) throws -> Outcome {
    try Outcome.timed(repeats: 3) {
      switch workload {
      case .ownerNames: try engine.readOwnerNames()
      case .backlinks: Answer(try engine.countTasks(of: inputs.owners))
      default: Answer(try engine.countTasks(ofOwnersOlderThan: 90))
      }
    }
  }
}
