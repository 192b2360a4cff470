import ArgumentParser
import SyncPrograms

/// Runs a client that writes. Another program has started it.
struct Work: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Is a client that writes, and takes its orders from standard input.", shouldDisplay: false)

  @Option var server: String
  @Option(help: "The folder of its files.") var files: String
  @Option(help: "Its number.") var author: Int
  @Option var durability = Durability.full

  func run() async throws {
    Orders.begin()
    let options = Worker.Options(server: server, files: files, author: author, durability: durability)
    try await Worker(options).run()
  }
}
