import ArgumentParser

/// Faults of device sync. The server and the clients are separate programs, which are killed, cut off, slowed down, put
/// on full disks, and set back to a copy of yesterday.
@main
struct SyncFaults: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync-faults", abstract: "Tries device sync under faults, with programs of their own.",
    subcommands: [Run.self, Work.self, Cut.self])
}
