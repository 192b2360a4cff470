import ArgumentParser

/// The command line program of the sync server.
@main
struct RealmServerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "realm-server",
    abstract: "Serves the files of an app's users, so that their devices agree.",
    subcommands: [Serve.self, Init.self, Check.self, Backup.self, Retire.self, UserCommand.self],
    defaultSubcommand: Serve.self)
}
