import ArgumentParser
import Foundation
import RealmFuzzSupport

/// Gives changed inputs to the decoders of the server in this package. The other decoders, which read messages of
/// device sync and queries, belong to `fuzz-run network` in the package above.
@main
struct NetworkFuzz: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "network-fuzz",
    abstract: "Gives changed inputs to the decoders of what comes from the network to a server.")

  @OptionGroup var options: FuzzOptions

  func run() throws {
    let decoders = RequestDecoders.all + LogInDecoders.all + [DefinitionDecoder.decoder]
    guard try options.run(decoders) else { throw ExitCode(1) }
  }

  /// The inputs that are in the repository.
  static let kept = FuzzCorpus(
    URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("FuzzCorpus"))
}
