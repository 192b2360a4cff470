import ArgumentParser
import Foundation
import RealmSwift

/// Loads the package catalogue of a Debian system into a realm and asks it questions.
@main
struct Catalog: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "package-catalog",
    abstract: "Loads a package catalogue into a realm and asks it questions.",
    discussion: "Without --input it reads what apt-cache knows, or the bundled sample where there is no apt.")

  @Option(help: "The realm to make; one that is there is replaced.") var output = "build/catalog.realm"
  @Option(help: "A file of package stanzas, as `apt-cache dumpavail` prints them.") var input: String?
  @Flag(help: "Use the bundled sample.") var sample = false
  @Option(help: "Encrypts the realm with the 64 bytes in this file.") var keyFile: String?

  func run() throws {
    let (text, origin) = try read()
    var configuration = Realm.Configuration(fileURL: URL(fileURLWithPath: output))
    if let keyFile { configuration.encryptionKey = try Data(contentsOf: URL(fileURLWithPath: keyFile)) }
    try removeOld()
    print("Reading \(origin), \(text.utf8.count >> 10) KiB.")

    var progress = Progress("Reading", of: text.utf8.count)
    let clock = ContinuousClock()
    var loader: Loader?
    let readingTime = clock.measure { loader = Loader(text, progress: &progress) }
    progress.end()
    guard let loader, loader.count > 0 else { throw ValidationError("\(origin) has no packages.") }

    let realm = try Realm(configuration: configuration)
    progress = Progress("Adding", of: loader.count)
    let addingTime = try clock.measure { try loader.add(to: realm, progress: &progress) }
    progress.end()
    let size = try FileManager.default.attributesOfItem(atPath: output)[.size] as? Int ?? 0
    print(
      """
      \(loader.count) packages read in \(milliseconds(readingTime)), added in \(milliseconds(addingTime)).
      \(output) has \(size >> 10) KiB, \(size * 100 / text.utf8.count) % of its input, with \
      \(realm.objects(Maintainer.self).count) maintainers, indexes and links.
      """)
    Questions(realm: realm).askAll()
  }

  private func read() throws -> (text: String, origin: String) {
    if let input { return (try String(contentsOfFile: input, encoding: .utf8), input) }
    if !sample, let text = Apt.catalogue() { return (text, "what apt-cache knows") }
    guard let url = Bundle.module.url(forResource: "sample", withExtension: "txt") else {
      throw ValidationError("the bundled sample is missing; give --input.")
    }
    return (try String(contentsOf: url, encoding: .utf8), "the bundled sample")
  }

  private func removeOld() throws {
    let folder = URL(fileURLWithPath: output).deletingLastPathComponent()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for path in [output, output + ".management", output + ".note"]
    where FileManager.default.fileExists(atPath: path) {
      try FileManager.default.removeItem(atPath: path)
    }
  }
}

/// The system's package tool.
enum Apt {
  /// All packages it knows of; nil where there is no apt, or it knows none.
  static func catalogue() -> String? {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/apt-cache")
    process.arguments = ["dumpavail"]
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/apt-cache"), (try? process.run()) != nil
    else {
      return nil
    }
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0, output.starts(with: Array("Package:".utf8)) else { return nil }
    return String(decoding: output, as: UTF8.self)
  }
}
