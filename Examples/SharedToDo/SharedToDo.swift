import ArgumentParser
import Foundation

/// A to-do list that several people share through a sync server, and go on with while they have no connection.
@main
struct SharedToDo: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "shared-todo",
    abstract: "Keeps a to-do list that others share through a sync server.",
    discussion: "Reads commands from standard input: 'help' shows them. 'make server' runs a server for it.")

  @Option(help: "The address of the server.") var server = "http://localhost:8080"
  @Option(help: "The id of the app on the server.") var app = "dev"
  @Option(help: "The folder with the list and its user. One program uses it at a time.")
  var folder = "shared-todo"
  @Flag(help: "For other programs: ends each answer with 'ok' or 'failed: …', and shows nothing unasked.")
  var plain = false

  func run() async throws {
    let folder = URL(fileURLWithPath: folder, isDirectory: true)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let list = try await SharedList(server: server, app: app, folder: folder)
    let conversation = await Conversation(list, name: folder.lastPathComponent, isPlain: plain)
    await conversation.hold()
    // The list refers to it weakly.
    withExtendedLifetime(conversation) {}
  }
}
