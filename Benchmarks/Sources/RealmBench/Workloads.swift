/// What is measured. Numbers name the same workload in every report of this project.
enum Workload: String, CaseIterable {
  /// Inserts all Persons in one durable transaction into a new file. Making the Persons is not part of the time.
  /// Runs in a process of its own, which also tells how much anonymous memory it took at most.
  case bulkInsert = "1"
  /// Bytes of all of the engine's files for each Person, after the bulk insert and closing.
  case fileSize = "2"
  /// The same of a copy made as small as the engine can: VACUUM, MDB_CP_COMPACT. Where an engine can't, as it is.
  case compactedSize = "2c"
  /// A million lookups by primary key, at random, each reading name and age.
  case lookUp = "3"
  /// Iterates all, reading name, age and score.
  case iterate = "4"
  /// Counts age == 42. Age is not indexed.
  case countAge = "5"
  /// Counts age > 50 && active. Neither is indexed.
  case countActive = "6"
  /// Counts email == X. Email is not indexed.
  case countEmail = "7"
  /// Counts names that contain 'River'.
  case countNames = "8"
  /// The same with A to Z taken for a to z.
  case countNamesIgnoringCase = "8b"
  /// Ten thousand counts of city == X. City is indexed.
  case countCities = "9"
  /// Sorts all by age and name, and reads the first 100.
  case sort = "10"
  /// The same with a limit of 100, where an engine takes one.
  case sortLimited = "10b"
  /// The sum of scores and the average of ages.
  case aggregate = "11"
  /// Small durable commits, each setting the score of one Person at random, on the file as the bulk insert left it.
  case update = "12"
  /// Small durable commits, each adding one Person.
  case insert = "12b"
  /// As 12, with commits that survive the death of the process: `.relaxed`, and SQLite's `synchronous=NORMAL`.
  case relaxedUpdate = "12n"
  /// As 12, after 100,000 updates at random in relaxed commits of 100: the file of a program that has run for long.
  case steadyUpdate = "12s"
  /// As 12b, on that file.
  case steadyInsert = "12bs"
  /// Small durable commits of 8 threads at once, each updating Persons at random; an engine that has no group commit
  /// has the changes that wait made in one transaction.
  case threads8 = "12g"
  /// The same with 32 threads.
  case threads32 = "12g32"
  /// Adds 1 to all scores in one durable transaction.
  case raiseScores = "13"
  /// Deletes the Persons who are not active, about half of them, in one durable transaction.
  case deleteInactive = "14"
  /// Opens the file, closed before, and counts what is left.
  case open = "15"
  /// Size of all files with 100,000 records of 200 bytes, closed. Measured in the first round only, as are 20 and 20r:
  /// they do not vary.
  case freshFile = "20f"
  /// The same after 10,000 durable commits of one update each, while a reader goes on seeing what was before them.
  case pinnedReader = "20"
  /// The same after 100 more commits without the reader.
  case releasedReader = "20r"
  /// 10,000 small durable commits of one process to a file of 1 GiB.
  case oneProcess = "20a"
  /// The same of two processes in turns, while a third one holds a reader of the file as it was.
  case processes = "20p"
  /// Counts Persons whose id, the primary key, is one of 10,000 values.
  case countIDs = "21a"
  /// Counts Persons whose age, not indexed, is one of 10,000 values.
  case countAges = "21b"

  var title: String {
    switch self {
    case .bulkInsert: "bulk insert, one durable transaction"
    case .fileSize: "file after it"
    case .compactedSize: "file, compacted"
    case .lookUp: "1,000,000 primary-key lookups"
    case .iterate: "iterate name, age, score"
    case .countAge: "count age == 42, not indexed"
    case .countActive: "count age > 50 && active"
    case .countEmail: "count email == X, not indexed"
    case .countNames: "count name contains 'River'"
    case .countNamesIgnoringCase: "the same ignoring case"
    case .countCities: "10,000 counts city == X, indexed"
    case .sort: "sort by age and name, read 100"
    case .sortLimited: "the same with limit 100"
    case .aggregate: "sum of scores, average of ages"
    case .update: "durable update of one"
    case .insert: "durable insert of one"
    case .relaxedUpdate: "relaxed update of one"
    case .steadyUpdate: "durable update, steady state"
    case .steadyInsert: "durable insert, steady state"
    case .threads8: "durable updates of 8 threads"
    case .threads32: "durable updates of 32 threads"
    case .raiseScores: "raise all scores, durable"
    case .deleteInactive: "delete the inactive half, durable"
    case .open: "open and count"
    case .freshFile: "100,000 records, file fresh"
    case .pinnedReader: "file, reader pinned for commits"
    case .releasedReader: "file, 100 commits after release"
    case .oneProcess: "commits of one process"
    case .processes: "two processes, one reader"
    case .countIDs: "count id IN 10,000 values"
    case .countAges: "count age IN 10,000 values"
    }
  }

  /// Those that run on the open file, in this order: what a workload finds does not depend on which others were chosen,
  /// but for the few thousand changes of those before it.
  static let onOpenFile: [Workload] = [
    .lookUp, .iterate, .countAge, .countActive, .countEmail, .countNames, .countNamesIgnoringCase,
    .countCities, .sort, .sortLimited, .aggregate, .countIDs, .countAges, .update, .insert, .relaxedUpdate,
    .steadyUpdate, .steadyInsert, .threads8, .threads32, .raiseScores, .deleteInactive,
  ]

  /// Those that have files of their own, and need no Persons.
  static let onRecords: Set<Workload> = growth.union([.oneProcess, .processes])
  static let growth: Set<Workload> = [.freshFile, .pinnedReader, .releasedReader]

  static let steady: Set<Workload> = [.steadyUpdate, .steadyInsert]
  static let smallCommits: Set<Workload> = [
    .update, .insert, .relaxedUpdate, .steadyUpdate, .steadyInsert, .threads8, .threads32,
  ]
}

/// What a measured number is.
enum Metric: String {
  case seconds
  case bytesPerObject = "bytes_per_object"
  case peakMebibytes = "peak_mib"
  case p50Microseconds = "p50_us"
  case p99Microseconds = "p99_us"
  case p999Microseconds = "p999_us"
  case meanMicroseconds = "mean_us"
  case fileMebibytes = "file_mib"
  /// For each commit: pages with nodes.
  case nodeKibibytes = "node_kib"
  /// Nodes that did not change and were moved, to make the file smaller.
  case movedKibibytes = "moved_kib"
  /// Meta pages.
  case metaKibibytes = "meta_kib"
  /// Zeros, for commits to come.
  case growthKibibytes = "growth_kib"
  /// All that the process handed to write calls: pages, log, whatever a checkpoint copies.
  case writtenKibibytes = "written_kib"
  /// Of a file to the fresh one, of a median to that of one process.
  case ratio
}

/// What one run of a workload found.
struct Outcome {
  var values: [(metric: Metric, value: Double)] = []
  /// What was read, to be compared with the other engines; nil where a workload reads nothing.
  var answer: Answer?
}

extension Outcome {
  init(percentilesOf seconds: [Double]) {
    values = [
      (.p50Microseconds, Measure.percentile(0.5, of: seconds) * 1e6),
      (.p99Microseconds, Measure.percentile(0.99, of: seconds) * 1e6),
      (.p999Microseconds, Measure.percentile(0.999, of: seconds) * 1e6),
      (.meanMicroseconds, seconds.reduce(0, +) / Double(seconds.count) * 1e6),
    ]
  }
}

/// Runs workloads on an engine's open file.
struct WorkloadRun {
  let engine: any Engine
  let inputs: Inputs

  /// Nil where the engine has no such thing.
  func run(_ workload: Workload) throws -> Outcome? {
    switch workload {
    case .lookUp: try timed(repeats: 1) { try engine.lookUp(inputs.lookups) }
    case .iterate: try timed(repeats: 3) { try engine.iterate() }
    case .countAge: try timed(repeats: 3) { Answer(try engine.count(age: 42)) }
    case .countActive: try timed(repeats: 3) { Answer(try engine.countActive(olderThan: 50)) }
    case .countEmail: try timed(repeats: 3) { Answer(try engine.count(email: inputs.email)) }
    case .countNames: try countNames(ignoringCase: false)
    case .countNamesIgnoringCase: try countNames(ignoringCase: true)
    case .countCities: try timed(repeats: 3) { Answer(try engine.count(cities: inputs.cities)) }
    case .sort: try timed(repeats: 1) { try engine.firstByAgeAndName(asksForAll: true) }
    case .sortLimited: try timed(repeats: 1) { try engine.firstByAgeAndName(asksForAll: false) }
    case .aggregate: try timed(repeats: 3) { Answer(rounding: try engine.sumAndAverage()) }
    case .countIDs: try timed(repeats: 3) { Answer(try engine.count(ids: inputs.ids)) }
    case .countAges: try timed(repeats: 3) { Answer(try engine.count(ages: inputs.ages)) }
    case .raiseScores: try change { try engine.raiseScores() }
    case .deleteInactive: try change { try engine.deleteInactive() }
    case .relaxedUpdate: try withoutRelaxedCommits()
    case .threads8: try threads(8, seed: 16)
    case .threads32: try threads(32, seed: 17)
    case .update, .insert, .steadyUpdate, .steadyInsert, .bulkInsert, .fileSize, .compactedSize, .freshFile,
      .pinnedReader, .releasedReader, .oneProcess, .processes, .open:
      nil
    }
  }

  /// The median of a few runs in a row: the short ones vary.
  private func timed(repeats: Int, _ body: () throws -> Answer) throws -> Outcome {
    var answer = Answer()
    let samples = try (0..<repeats).map { _ in try Measure.seconds { answer = try body() } }
    return Outcome(values: [(.seconds, Measure.median(samples))], answer: answer)
  }

  private func countNames(ignoringCase: Bool) throws -> Outcome {
    try timed(repeats: 3) { Answer(try engine.count(nameContaining: "River", ignoringCase: ignoringCase)) }
  }

  private func change(_ body: () throws -> Void) throws -> Outcome {
    engine.promise = .durable
    return Outcome(values: [(.seconds, try Measure.seconds(body))])
  }

  // MARK: - Small commits

  /// The commits of a workload that measures single ones; nil where it is none, or the engine has no such commits.
  func series(_ workload: Workload) -> CommitSeries? {
    switch workload {
    case .update: updates(.durable, seed: 12)
    case .insert: inserts(after: 0, seed: 1_200)
    case .relaxedUpdate: engine.hasRelaxedCommits ? updates(.relaxed, seed: 14) : nil
    case .steadyUpdate: updates(.durable, seed: 13)
    case .steadyInsert: inserts(after: inputs.sizes.commits, seed: 1_300)
    default: nil
    }
  }

  private func updates(_ promise: Promise, seed: UInt64) -> CommitSeries {
    let (engine, changes) = (engine, inputs.changes(inputs.sizes.commits, seed: seed))
    return CommitSeries(engine, promise) { try engine.setScores(changes[$0...$0]) }
  }

  private func inserts(after before: Int, seed: UInt64) -> CommitSeries {
    let (engine, people) = (engine, inputs.newcomers(inputs.sizes.commits, after: before, seed: seed))
    return CommitSeries(engine, .durable) { try engine.insert(people[$0]) }
  }

  private func threads(_ threads: Int, seed: UInt64) throws -> Outcome {
    engine.promise = .durable
    var written = WriteWatch(engine)
    written.begin()
    let times = try engine.commitFromThreads(
      inputs.changes(inputs.sizes.threadCommits, threads: threads, seed: seed))
    written.end()
    var outcome = Outcome(percentilesOf: times.commits)
    outcome.values.append((.seconds, times.seconds))
    outcome.values += written.values(perCommitOf: times.commits.count)
    return outcome
  }

  /// The content of an engine without relaxed commits must still be that of the others.
  private func withoutRelaxedCommits() throws -> Outcome? {
    try engine.setScores(inputs.changes(inputs.sizes.commits, seed: 14)[...])
    return nil
  }

  /// Brings the file into the state that 12s and 12bs ask for.
  func churn() throws {
    engine.promise = .relaxed
    let changes = inputs.changes(inputs.sizes.churn, seed: 15)
    for start in stride(from: 0, to: changes.count, by: 100) {
      try engine.setScores(changes[start..<min(start + 100, changes.count)])
    }
    engine.promise = .durable
  }
}
