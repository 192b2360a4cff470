#if os(Linux) || os(macOS)
  import Foundation
  import Testing

  /// Small programs about threads, tasks and actors, in Snippets. The compiler has to refuse some of them (Refused).
  /// The others have to compile without a warning and work (Working, Program). The first line of each says what is
  /// expected. Refused also has programs with names of RealmSwift that are not there yet.
  ///
  /// Together they are a promise: a mistake is reported when a program is compiled. No program here compiles and then
  /// stops when it runs.
  @Suite struct SnippetTests {
    @Test(arguments: Snippets.refused)
    func `the compiler refuses code that takes an object to another thread, and names that are missing yet`(
      snippet: Snippet
    ) throws {
      // The snippets are compiled one by one, because an error of types keeps the compiler from looking for races.
      let (status, output) = try Snippets.compile(["-emit-sil", "-o", "/dev/null", snippet.path])
      #expect(status != 0, "\(snippet) was compiled, and is to be refused")
      let errors = output.split(separator: "\n").filter { $0.contains(": error: ") }
      let words = snippet.expected.components(separatedBy: " | ")
      for word in words {
        #expect(errors.contains { $0.contains(word) }, "\(snippet) is not refused for '\(word)': \(output)")
      }
      for error in errors {
        #expect(words.contains { error.contains($0) }, "\(snippet) is refused for something else: \(error)")
      }
    }

    @Test func `the code that the guides of threads recommend compiles without a warning, and works`() throws
    {
      try withFolder { folder in
        let main = folder + "/Main.swift"
        let calls = Snippets.working.map { "    await tell(\"\($0)\") { try await \($0)() }" }
        try """
        @main struct Program {
          static func main() async {
        \(calls.joined(separator: "\n"))
          }
          static func tell(_ name: String, _ body: @Sendable () async throws -> String) async {
            do { print("\\(name): \\(try await body())") } catch { print("\\(name): thrown \\(error)") }
          }
        }
        """.write(toFile: main, atomically: true, encoding: .utf8)
        let output = try built(Snippets.working.map(\.path) + [main], in: folder)
        let lines = output.split(separator: "\n").map(String.init)
        #expect(lines.count == Snippets.working.count)
        for snippet in Snippets.working {
          #expect(lines.contains("\(snippet): \(snippet.expected)"), "\(snippet) answered: \(output)")
        }
      }
    }

    @Test(arguments: Snippets.programs)
    func `each program with its own main function compiles without a warning, and works`(snippet: Snippet)
      throws
    {
      try withFolder { folder in
        let output = try built([snippet.path], in: folder)
        #expect(output == snippet.expected + "\n")
      }
    }

    @Test func `no snippet is missed`() {
      #expect(Snippets.refused.count + Snippets.working.count + Snippets.programs.count >= 60)
      #expect((Snippets.refused + Snippets.working + Snippets.programs).allSatisfy { !$0.expected.isEmpty })
    }

    /// Compiles a program from files and runs it.
    ///
    /// - Returns: The output of the program.
    private func built(_ paths: [String], in folder: String) throws -> String {
      let program = folder + "/program"
      let linked = try Snippets.objectFiles(folder) + ["-lsodium", "-lz", "-lstdc++"]
      let (status, output) = try Snippets.compile(
        ["-parse-as-library", "-warnings-as-errors", "-o", program] + paths + linked)
      try #require(status == 0 && output.isEmpty, "the compiler says: \(output)")
      let (ended, printed) = try Snippets.run([program])
      #expect(ended == 0, "the program ended with \(ended): \(printed)")
      return printed
    }

    private func withFolder(_ body: (String) throws -> Void) throws {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "snippets-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      try body(folder.path)
    }
  }

  /// A small Swift file. Its first line says what is expected of it.
  struct Snippet: CustomTestStringConvertible, CustomStringConvertible, Sendable {
    let path: String

    var description: String { URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent }
    var testDescription: String { description }

    /// The text after the colon of the first line.
    var expected: String {
      let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
      guard let line = text.split(separator: "\n").first, let colon = line.range(of: ": ") else { return "" }
      return String(line[colon.upperBound...])
    }
  }

  enum Snippets {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Snippets")
    private static let package = folder.appendingPathComponent("../../../..").standardizedFileURL

    static let refused = snippets(in: "Refused")
    static let working = snippets(in: "Working")
    static let programs = snippets(in: "Program")

    private static func snippets(in name: String) -> [Snippet] {
      let folder = folder.appendingPathComponent(name).path
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      return names.filter { $0.hasSuffix(".swift") }.sorted().map { Snippet(path: "\(folder)/\($0)") }
    }

    /// The folder in which this program was built, with the modules of which it was built.
    private static let products: URL = {
      #if os(macOS)
        // On macOS the program is Xcode's, and the tests are a bundle.
        Bundle(for: Anchor.self).bundleURL.deletingLastPathComponent()
      #else
        URL(fileURLWithPath: Bundle.main.executablePath ?? "").deletingLastPathComponent()
      #endif
    }()
    private final class Anchor {}

    /// Compiles files with the options of a Swift 6 package that uses RealmSwift.
    static func compile(_ arguments: [String]) throws -> (status: Int32, output: String) {
      try run(
        [
          "swiftc", "-swift-version", "6", "-strict-concurrency=complete", "-diagnostic-style", "llvm",
          "-module-name", "Snippets", "-wmo", "-I", products.appendingPathComponent("Modules").path,
          "-I", package.appendingPathComponent("Sources/CRealmSodium").path,
          "-I", package.appendingPathComponent("Sources/CRealmZlib").path,
          "-module-cache-path", products.appendingPathComponent("ModuleCache").path,
          folder.appendingPathComponent("Models.swift").path,
        ] + moduleMaps + arguments)
    }

    /// The options with which the compiler finds the C modules that the library uses.
    private static let moduleMaps: [String] = {
      let files = FileManager.default
      let products = Self.products.resolvingSymlinksInPath()
      let made = ((try? files.contentsOfDirectory(atPath: products.path)) ?? []).sorted()
        .map { "\(products.path)/\($0)/module.modulemap" }
      let scratch = products.deletingLastPathComponent().deletingLastPathComponent()
      // Some modules have a map of their own.
      let headers = [
        "swift-nio-ssl/Sources/CNIOBoringSSL", "swift-nio/Sources/CNIOWindows",
        "swift-atomics/Sources/_AtomicsShims", "swift-system/Sources/CSystem",
      ].map { scratch.appendingPathComponent("checkouts/\($0)/include").path }
      return made.filter { files.fileExists(atPath: $0) }.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
        + headers.flatMap { ["-I", $0] }
    }()

    /// Writes the object files of the library to a file that the compiler reads as arguments.
    static func objectFiles(_ folder: String) throws -> [String] {
      let all = try String(
        contentsOf: products.appendingPathComponent("realm-swiftPackageTests.product/Objects.LinkFileList"),
        encoding: .utf8)
      // Programs have a main function, and tests need the code that runs them.
      let others = ["Tests.build/", "Support.build/", "RealmTool.build/", "api_coverage.build/", ".derived/"]
      let own = all.split(separator: "\n").filter { line in !others.contains { line.contains($0) } }
      let list = folder + "/objects"
      try own.joined(separator: "\n").write(toFile: list, atomically: true, encoding: .utf8)
      return ["@" + list]
    }

    /// Runs a program.
    ///
    /// - Returns: The exit status and the output.
    static func run(_ words: [String]) throws -> (status: Int32, output: String) {
      let (process, pipe) = (Process(), Pipe())
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = words
      process.standardOutput = pipe
      process.standardError = pipe
      try process.run()
      let output = pipe.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
  }
#endif
