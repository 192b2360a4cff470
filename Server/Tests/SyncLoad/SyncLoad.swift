import ArgumentParser

/// Measures device sync over the network: a server and its clients are programs of their own, on this machine.
@main
struct SyncLoad: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync-load", abstract: "Measures device sync over the network.",
    subcommands: [Measure.self, Client.self])
}
