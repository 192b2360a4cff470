import ArgumentParser
import RealmFuzzSupport

/// Gives changed inputs to all decoders of bytes from the network, as far as they are part of this package.
struct NetworkFuzz: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "network",
    abstract: "Gives changed inputs to the decoders of what comes from the network.")

  @OptionGroup var options: FuzzOptions

  func run() throws {
    guard try options.run(decoders, command: ["network"]) else { throw ExitCode(1) }
  }

  private var decoders: [FuzzedDecoder] {
    let messages = MessageDecoders.all + BodyDecoders.all + PartDecoders.all
    let others = AccountDecoders.all + QueryDecoders.all
    #if Sync
      return FrameDecoders.all + AnswerDecoders.all + messages + others
    #else
      return messages + others
    #endif
  }
}
