import ArgumentParser

/// Gives changed files to the storage engine, and changed bytes to decoders.
struct FuzzRunCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fuzz-run",
    abstract: "Gives files and bytes that are not as they were made to who reads them.",
    subcommands: [FileFuzz.self, NetworkFuzz.self], defaultSubcommand: FileFuzz.self)
}

FuzzRunCommand.main()
