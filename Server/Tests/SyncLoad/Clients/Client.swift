import ArgumentParser
import SyncPrograms

/// A client as a separate program. It takes orders from standard input, answers with lines, and ends when its input
/// ends.
struct Client: AsyncParsableCommand {
  enum Role: String, ExpressibleByArgument, CaseIterable {
    /// Writes objects while it is suspended, and uploads them.
    case upload
    /// Downloads all objects of a class.
    case download
    /// Changes a number again and again.
    case write
    /// Observes that number.
    case observe
    /// Opens many sessions that do nothing.
    case crowd
  }

  static let configuration = CommandConfiguration(
    abstract: "Is a client of a measurement, which takes its orders from standard input.",
    shouldDisplay: false)

  @Argument var role: Role
  @Option var server: String
  @Option(help: "An empty folder, or none.") var folder: String
  @Option(help: "What it has.") var content = Content.counters
  @Option(help: "How many objects it writes, or how many files each user of a crowd has.") var objects = 0
  @Option(help: "Objects of one commit.") var commit = 100
  @Flag(help: "It writes while it gets objects.") var writes = false

  func run() async throws {
    Orders.begin()
    let options = ClientOptions(
      server: server, folder: folder, content: content, objects: objects, commit: max(1, commit),
      isWriting: writes)
    switch role {
    case .upload: try await Uploader(options).run()
    case .download: try await Downloader(options).run()
    case .write: try await Writer(options).run()
    case .observe:
      let observer = await Observer(options)
      try await observer.run()
      withExtendedLifetime(observer) {}
    case .crowd: try await Crowd(options).run()
    }
  }
}

extension Content: ExpressibleByArgument {}

/// The options of a client as a value.
struct ClientOptions: Sendable {
  let server: String
  let folder: String
  let content: Content
  let objects: Int
  let commit: Int
  let isWriting: Bool
}
