import ArgumentParser

/// Measures device sync over the network. The server and its clients are separate programs on this machine.
@main
struct SyncLoad: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync-load", abstract: "Measures device sync over the network.",
    subcommands: [Measure.self, Client.self])
}
