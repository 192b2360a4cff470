import ArgumentParser
import Foundation

/// The options of a program that fuzzes decoders.
public struct FuzzOptions: ParsableArguments {
  @Option(help: "How many inputs each decoder gets.")
  public var executions = 50_000_000

  @Flag(help: "Fewer inputs: a few seconds in a release build.")
  public var quick = false

  @Option(help: "Try only this decoder.")
  public var decoder = ""

  @Option(help: "Where the random numbers start.")
  public var seed: UInt64 = 1

  @Option(help: "A file whose bytes are given to the decoder that is named, and nothing else.")
  public var input: String?

  @Option(help: "The folder for inputs that go wrong.")
  public var failures = "build/network-fuzz"

  /// The number of the first input that a worker gives to the decoder.
  @Option(help: .hidden)
  var first = 0

  /// The number of executions after which a worker reports its progress; nil in a process that is not a worker.
  @Option(help: .hidden)
  var batch: Int?

  public init() {}

  public func validate() throws {
    guard executions > 0 else { throw ValidationError("Each decoder needs one input at least.") }
  }

  /// Gives changed inputs to decoders, each in a process of its own, and prints a line for each decoder.
  ///
  /// - Parameter command: the words after the program's name that lead to this command.
  /// - Returns: true if nothing went wrong.
  /// - Throws: `ValidationError` if there is no decoder with the name that was given.
  public func run(_ decoders: [FuzzedDecoder], command: [String] = []) throws -> Bool {
    let chosen = decoders.filter { decoder.isEmpty || $0.name == decoder }
    guard let one = chosen.first else {
      let names = decoders.map(\.name).joined(separator: ", ")
      throw ValidationError("There is no decoder '\(decoder)'. There are: \(names).")
    }
    if let input { return try give(input, to: one) }
    if let batch {
      try FuzzWorker(one, seed: seed).run(first..<first + executions, batch: batch)
      return true
    }
    var isRight = true
    for decoder in chosen {
      let run = FuzzRun(decoder: decoder, options: self, command: command)
      isRight = try run.run() && isRight
    }
    return isRight
  }

  private func give(_ path: String, to decoder: FuzzedDecoder) throws -> Bool {
    let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
    let outcome = try FuzzWorker(decoder, seed: seed).outcome(of: bytes, FuzzGenerator(seed: seed))
    print("decoder=\(decoder.name) input=\(path) \(outcome)")
    if case .wrong = outcome { return false }
    return true
  }
}
