/// Runs workloads on an engine's open file.
struct WorkloadRun {
  let engine: any Engine
  let setting: Setting
  let contender: Contender
  private var inputs: Inputs { setting.inputs }

  init(engine: any Engine, setting: Setting, contender: Contender) {
    self.engine = engine
    self.setting = setting
    self.contender = contender
  }

  /// Runs a workload; the result is nil if the engine has no such operation.
  func run(_ workload: Workload) throws -> Outcome? {
    switch workload {
    case .lookUp: try timed(repeats: 1) { try engine.lookUp(inputs.lookups) }
    case .lookUpTogether: try lookUpTogether()
    case .iterate: try timed(repeats: 3) { try engine.iterate() }
    case .iterateStrings: try iterateStrings()
    case .countAge: try timed(repeats: 3) { Answer(try engine.count(age: 42)) }
    case .countActive: try timed(repeats: 3) { Answer(try engine.countActive(olderThan: 50)) }
    case .countEmail: try timed(repeats: 3) { Answer(try engine.count(email: inputs.email)) }
    case .countNames: try countNames(ignoringCase: false)
    case .countNamesIgnoringCase: try countNames(ignoringCase: true)
    case .countCities: try timed(repeats: 3) { Answer(try engine.count(cities: inputs.cities)) }
    case .sort: try timed(repeats: 1) { try engine.firstByAgeAndName(asksForAll: true) }
    case .sortLimited: try timed(repeats: 1) { try engine.firstByAgeAndName(asksForAll: false) }
    case .aggregate: try timed(repeats: 3) { Answer(rounding: try engine.sumAndAverage()) }
    case .firstActive: try findFirst()
    case .firstByCity: try findFirstByCity()
    case .countIDs: try timed(repeats: 3) { Answer(try engine.count(ids: inputs.ids)) }
    case .countAges: try timed(repeats: 3) { Answer(try engine.count(ages: inputs.ages)) }
    case .raiseScores: try change { try engine.raiseScores() }
    case .deleteInactive: try change { try engine.deleteInactive() }
    case .relaxedUpdate: try withoutRelaxedCommits()
    case .threads8: try threads(8, seed: 16)
    case .threads32: try threads(32, seed: 17)
    case .changeSet: try findChanges()
    case .lookUpTwice, .iterateTwice, .countNamesTwice, .aggregateTwice: try inTwoThreads(workload)
    default: nil
    }
  }

  private func timed(repeats: Int, _ body: () throws -> Answer) throws -> Outcome {
    try Outcome.timed(repeats: repeats, body)
  }

  private func findFirst() throws -> Outcome? {
    guard try engine.firstActive() != nil else { return nil }
    return try timed(repeats: 3) {
      var answer = Answer()
      for _ in 0..<1_000 where try engine.firstActive() != nil { answer.add(Int64(1)) }
      return answer
    }
  }

  private func findFirstByCity() throws -> Outcome? {
    guard try engine.firstByCity() != nil else { return nil }
    return try timed(repeats: 3) {
      var answer = Answer()
      for _ in 0..<100 { answer.add(try engine.firstByCity() ?? Answer()) }
      return answer
    }
  }

  private func lookUpTogether() throws -> Outcome? {
    var answer: Answer?
    let seconds = try Measure.seconds { answer = try engine.lookUpTogether(inputs.lookups) }
    return answer.map { Outcome(values: [(.seconds, seconds)], answer: $0) }
  }

  private func iterateStrings() throws -> Outcome? {
    guard try engine.iterateStrings() != nil else { return nil }
    return try timed(repeats: 3) { try engine.iterateStrings() ?? Answer() }
  }

  private func countNames(ignoringCase: Bool) throws -> Outcome {
    try timed(repeats: 3) { Answer(try engine.count(nameContaining: "River", ignoringCase: ignoringCase)) }
  }

  /// Measures how long the engine takes to find what a commit of one update changed.
  private func findChanges() throws -> Outcome? {
    let samples = try inputs.changes(inputs.sizes.changeSets, seed: 22).map { try engine.timeToFind($0) }
    let seconds = samples.compactMap { $0 }
    return seconds.isEmpty ? nil : Outcome(percentilesOf: seconds)
  }

  /// Measures a workload of one thread that two threads do at once, each of them all of it.
  private func inTwoThreads(_ workload: Workload) throws -> Outcome? {
    let some = Array(inputs.lookups.prefix(200_000))
    let ask: @Sendable (any Engine) throws -> Answer =
      switch workload {
      case .lookUpTwice: { try $0.lookUp(some) }
      case .iterateTwice: { try $0.iterate() }
      case .countNamesTwice: { Answer(try $0.count(nameContaining: "River", ignoringCase: false)) }
      default: { Answer(rounding: try $0.sumAndAverage()) }
      }
    return try TwoThreads(engine: engine, setting: setting, contender: contender).run(ask)
  }

  private func change(_ body: () throws -> Void) throws -> Outcome {
    engine.promise = .durable
    return Outcome(values: [(.seconds, try Measure.seconds(body))])
  }

  // MARK: - Small commits

  /// The commits of a workload that measures single commits; nil if it is another workload, or if the engine has no
  /// such commits.
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

  /// Makes the changes of relaxed commits in an engine that has none, so that its content stays equal to that of the
  /// others.
  private func withoutRelaxedCommits() throws -> Outcome? {
    try engine.setScores(inputs.changes(inputs.sizes.commits, seed: 14)[...])
    return nil
  }

  /// Brings the file into the state that workloads 12s and 12bs need.
  func churn() throws {
    engine.promise = .relaxed
    let changes = inputs.changes(inputs.sizes.churn, seed: 15)
    for start in stride(from: 0, to: changes.count, by: 100) {
      try engine.setScores(changes[start..<min(start + 100, changes.count)])
    }
    engine.promise = .durable
  }
}
