import ArgumentParser
import SyncPrograms

/// Runs a client whose connections are cut. Another program has started it.
struct Cut: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Is a client whose connections are cut behind some number of bytes.", shouldDisplay: false)

  @Option(help: "The port of the server.") var server: Int
  @Option(help: "The bytes that are counted, which is the id of the app, too.")
  var direction: CutRule.Direction
  @Option(help: "The folder of its files.") var files: String
  @Option(help: "The first connection is cut behind so many bytes.") var first: Int
  @Option(help: "Each further one behind so many more.") var step: Int

  func run() async throws {
    Orders.begin()
    let options = Cutter.Options(server: server, direction: direction, files: files, first: first, step: step)
    try await Cutter(options).run()
  }
}

extension CutRule.Direction: ExpressibleByArgument {}
