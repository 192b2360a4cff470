import CRealmAllocations
import Foundation
import RealmTestSupport

/// Gives inputs to one decoder. The input and the random numbers of each execution depend only on the decoder, the seed
/// and the number of the execution, so that an execution can be repeated by itself.
struct FuzzWorker {
  enum Outcome: CustomStringConvertible {
    case accepted
    case refused
    case wrong(String)

    var description: String {
      switch self {
      case .accepted: "accepted"
      case .refused: "refused"
      case .wrong(let what): "wrong: \(what)"
      }
    }
  }

  /// The number of failures after which a decoder is not tried further.
  static let mostWrong = 10

  private let name: String
  private let seed: UInt64
  private let start: UInt64
  private let trial: FuzzedDecoder.Trial

  init(_ decoder: FuzzedDecoder, seed: UInt64) throws {
    (name, self.seed) = (decoder.name, seed)
    start = decoder.name.utf8.reduce(seed) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    trial = try decoder.make()
    guard trial.samples.contains(where: { !$0.isEmpty }) else {
      throw FuzzFailure("The decoder \(decoder.name) has no samples.")
    }
  }

  /// The input of an execution, and the generator for the random numbers that come after the input.
  func input(_ number: Int) -> (bytes: [UInt8], generator: FuzzGenerator) {
    var generator = FuzzGenerator(seed: start &+ UInt64(number))
    if number < trial.samples.count { return (trial.samples[number], generator) }
    let bytes = trial.mutator.input(of: trial.samples, &generator)
    return (bytes, generator)
  }

  func outcome(of bytes: [UInt8], _ generator: FuzzGenerator) -> Outcome {
    var (outcome, asked) = attempt(bytes, generator)
    // Something that is made once, such as a table of the system, counts only the first time. So the input is tried
    // twice.
    if !trial.memory.allows(asked, forInputOf: bytes.count) {
      (outcome, asked) = attempt(bytes, generator)
      if !trial.memory.allows(asked, forInputOf: bytes.count) {
        return .wrong("\(asked) bytes of memory are asked for, for an input of \(bytes.count) bytes")
      }
    }
    return outcome
  }

  private func attempt(_ bytes: [UInt8], _ generator: FuzzGenerator) -> (outcome: Outcome, asked: Int) {
    var generator = generator
    // On a system that can't count allocations, the function returns the same number before and after.
    let before = ca_allocated_bytes()
    let outcome: Outcome
    do {
      outcome = try trial.run(bytes, &generator) ? .accepted : .refused
    } catch {
      outcome = .wrong("\(error)")
    }
    return (outcome, Int(ca_allocated_bytes() - before))
  }

  // MARK: - In a process of its own

  private struct Counts {
    var executions = 0
    var accepted = 0
    var refused = 0
    var wrong = 0
  }

  /// Does some executions, and reports them to a `FuzzRun` by lines.
  func run(_ numbers: Range<Int>, batch: Int) throws {
    Alarm.shared.start()
    var counts = Counts()
    var next = numbers.lowerBound
    let begin = ContinuousClock.now
    while next < numbers.upperBound, counts.wrong < Self.mostWrong {
      let end = min(numbers.upperBound, next + max(1, batch))
      Self.tell("at \(next)")
      Alarm.shared.begin("decoder \(name), seed \(seed), executions from \(next) to \(end - 1)")
      Self.inPool { for number in next..<end { execute(number, &counts) } }
      Alarm.shared.end()
      next = end
    }
    let time = begin.duration(to: ContinuousClock.now)
    Self.tell(
      "done \(counts.executions) \(counts.accepted) \(counts.refused) \(Int(time / .microseconds(1)))")
  }

  private func execute(_ number: Int, _ counts: inout Counts) {
    let (bytes, generator) = input(number)
    counts.executions += 1
    switch outcome(of: bytes, generator) {
    case .accepted: counts.accepted += 1
    case .refused: counts.refused += 1
    case .wrong(let what):
      counts.wrong += 1
      Self.tell("wrong \(number) \(what.split(whereSeparator: \.isNewline).joined(separator: "; "))")
    }
  }

  private static func tell(_ line: String) {
    print(line)
    // A process that is killed loses what is in its buffer.
    fflush(nil)
  }

  /// Runs a batch in an autorelease pool, which frees what Foundation of Apple's systems has autoreleased.
  private static func inPool(_ body: () -> Void) {
    #if canImport(ObjectiveC)
      autoreleasepool(invoking: body)
    #else
      body()
    #endif
  }
}
