import ArgumentParser
import Foundation

/// The making of a file of owners with lists. A process does nothing else, so that its memory is that of the engine
/// alone.
struct ListBuild: Codable {
  /// The time for the owners with their short lists.
  var fillSeconds: Double
  /// The time for the long list, made by one call.
  var appendSeconds: Double
  var appendPeakBytes: Int
  /// The time for another long list, made by a call for each element.
  var appendEachSeconds: Double

  static func run(_ file: any ListFile, _ lists: Lists) throws -> ListBuild {
    var build = ListBuild(fillSeconds: 0, appendSeconds: 0, appendPeakBytes: 0, appendEachSeconds: 0)
    build.fillSeconds = try Measure.seconds { try file.fill() }
    if lists.kind != .texts {
      let elements = lists.elements
      let memory = MemoryWatch()
      build.appendSeconds = try Measure.seconds {
        try file.append(together: elements, toListOf: lists.long)
      }
      build.appendPeakBytes = memory.end()
      if lists.kind == .numbers {
        build.appendEachSeconds = try Measure.seconds {
          try file.append(oneByOne: elements, toListOf: lists.other)
        }
      }
    }
    try file.close()
    return build
  }

  static func runInProcess(_ contender: Contender, _ lists: Lists, folder: String) throws -> ListBuild {
    let process = Process()
    let output = Pipe()
    process.executableURL = Bundle.main.executableURL
    process.arguments =
      [
        "build-lists", "--engine", contender.kind.rawValue, "--kind", lists.kind.rawValue, "--owners",
        "\(lists.owners)", "--length", "\(lists.length)", "--directory", folder,
      ] + (contender.isEncrypted ? ["--encrypted"] : [])
    process.standardOutput = output
    try process.run()
    let result = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw BenchmarkError("the lists of \(contender.label) can't be made")
    }
    return try JSONDecoder().decode(ListBuild.self, from: result)
  }
}

extension Lists.Kind: ExpressibleByArgument {}

/// The command that the parent process starts to make a file of lists.
struct BuildListsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "build-lists", shouldDisplay: false)

  @Option var engine: Contender.Kind
  @Flag var encrypted = false
  @Option var kind: Lists.Kind
  @Option var owners: Int
  @Option var length: Int
  @Option var directory: String

  func run() throws {
    let contender = Contender(kind: engine, isEncrypted: encrypted)
    let lists = Lists(kind: kind, owners: owners, length: length)
    guard let file = try contender.openLists(lists, in: directory) else {
      throw BenchmarkError("\(contender.label) has no lists")
    }
    FileHandle.standardOutput.write(try JSONEncoder().encode(ListBuild.run(file, lists)))
  }
}
