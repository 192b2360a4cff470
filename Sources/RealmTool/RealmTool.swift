import ArgumentParser
import Foundation
import RealmStorage

/// The command line tool `realm`.
@main
struct RealmTool: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "realm",
    abstract: "Looks into .realm files: what is in them, where the bytes go, and whether all is whole.",
    discussion: "Exit codes: 0 fine, 1 damage found, 2 wrong usage, 3 the file can't be opened.",
    subcommands: [Info.self, Check.self, Dump.self, Schema.self, Stats.self, Copy.self, Compact.self])

  static func main() {
    do {
      var command = try parseAsRoot()
      try command.run()
    } catch let error as StorageError {
      Output.complain("\(error)")
      Foundation.exit(error.exitCode)
    } catch let error as ExitCode {
      Foundation.exit(error.rawValue)
    } catch {
      let isHelp = exitCode(for: error) == .success
      if isHelp { print(fullMessage(for: error)) } else { Output.complain(fullMessage(for: error)) }
      Foundation.exit(isHelp ? 0 : 2)
    }
  }
}

extension StorageError {
  /// Damage is told apart from a file that can't be opened at all.
  var exitCode: CInt {
    if case .corrupted = self { 1 } else { 3 }
  }
}

/// The file a command looks into, and its key.
struct FileOptions: ParsableArguments {
  @Argument(help: "The .realm file.")
  var file: String

  @Option(
    name: .customLong("key-file"),
    help:
      "A file with the encryption key: 64 raw bytes or 128 hexadecimal digits. Or set REALM_KEY to the digits."
  )
  var keyFile: String?

  /// Opens the file for reading; nothing of it is changed.
  func open() throws -> Database {
    try requireFile()
    return try Database(path: file, options: .init(encryptionKey: try key(), isReadOnly: true))
  }

  func requireFile() throws {
    guard FileManager.default.fileExists(atPath: file) else {
      Output.complain("\(file) does not exist.")
      throw ExitCode(3)
    }
  }

  func key() throws -> [UInt8]? {
    if let keyFile { return try Self.key(inFile: keyFile) }
    guard let digits = ProcessInfo.processInfo.environment["REALM_KEY"], !digits.isEmpty else { return nil }
    return try Self.key(fromDigits: digits, source: "REALM_KEY")
  }

  static func key(inFile path: String) throws -> [UInt8] {
    guard let content = FileManager.default.contents(atPath: path) else {
      throw ValidationError("The key file \(path) can't be read.")
    }
    if content.count == 64 { return [UInt8](content) }
    return try key(fromDigits: String(decoding: content, as: UTF8.self), source: path)
  }

  static func key(fromDigits text: String, source: String) throws -> [UInt8] {
    let digits = text.filter { !$0.isWhitespace }.compactMap(\.hexDigitValue)
    guard digits.count == 128, text.filter({ !$0.isWhitespace }).count == 128 else {
      throw ValidationError("\(source) holds neither 64 raw bytes nor 128 hexadecimal digits.")
    }
    return stride(from: 0, to: 128, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
