/// The results of all rounds so far.
struct Findings {
  private var samples: [Sample.Kind: [Double]] = [:]
  private var answers: [String: (answer: Answer, contender: Contender)] = [:]

  mutating func note(_ workload: Workload, _ contender: Contender, _ metric: Metric, _ value: Double) {
    samples[Sample.Kind(workload: workload, contender: contender, metric: metric), default: []].append(value)
  }

  mutating func note(_ workload: Workload, _ contender: Contender, _ outcome: Outcome) throws {
    for (metric, value) in outcome.values { note(workload, contender, metric, value) }
    if let answer = outcome.answer { try compare(workload.title, answer, contender) }
  }

  /// Checks that all engines have read the same in all rounds.
  mutating func compare(_ what: String, _ answer: Answer, _ contender: Contender) throws {
    guard let known = answers[what] else { return answers[what] = (answer, contender) }
    guard known.answer == answer else {
      throw BenchmarkError(
        "answers differ in \(what): \(contender.label) read \(answer.value), \(known.contender.label) \(known.answer.value)"
      )
    }
  }

  /// The medians of all rounds.
  var medians: [Sample] { samples.map { Sample(kind: $0.key, value: Measure.median($0.value)) } }
}
