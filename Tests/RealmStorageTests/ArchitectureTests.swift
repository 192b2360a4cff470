import Foundation
import Testing

/// The folders are the architecture: these read the sources.
@Suite struct ArchitectureTests {
  /// From the lowest floor up. Node and Kernel do not know each other.
  static let floors = ["File", "Node", "Kernel", "Tree", "Space", "Table", "Query", "Transaction", "Check"]

  static let sources = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Sources")

  private static func files(
    of floor: String, in module: String = "RealmStorage"
  ) -> [(name: String, code: String)] {
    let folder = sources.appending(path: module).appending(path: floor)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasSuffix(".swift") }.sorted().compactMap { name in
      guard let text = try? String(contentsOf: folder.appending(path: name), encoding: .utf8) else {
        return nil
      }
      return (name, withoutComments(text))
    }
  }

  private static func withoutComments(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false)
      .map { line in line.range(of: "//").map { String(line[..<$0.lowerBound]) } ?? String(line) }
      .joined(separator: "\n")
  }

  private static func declaredTypes(in code: String) -> Set<String> {
    let declaration =
      /^(?:(?:public|package|private|fileprivate|final|indirect)\s+)*(?:struct|class|enum|protocol|actor|typealias)\s+(\w+)/
      .anchorsMatchLineEndings()
    return Set(code.matches(of: declaration).map { String($0.1) })
  }

  @Test func `no floor names a type of a floor above it`() {
    for (height, floor) in Self.floors.enumerated() {
      let above = Self.floors[(height + 1)...].reduce(into: [String: String]()) { types, upper in
        for file in Self.files(of: upper) {
          for type in Self.declaredTypes(in: file.code) { types[type] = upper }
        }
      }
      for file in Self.files(of: floor) {
        let words = Set(file.code.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
        for word in words {
          #expect(above[word] == nil, "\(floor)/\(file.name) names \(word) of \(above[word] ?? "")")
        }
      }
    }
  }

  @Test func `raw pointers stand on the lowest floors only`() {
    for floor in Self.floors where !["File", "Node", "Kernel"].contains(floor) {
      for file in Self.files(of: floor) {
        #expect(
          !file.code.contains("Unsafe") && !file.code.contains("withUnsafe"),
          "\(floor)/\(file.name) uses raw memory")
      }
    }
  }

  @Test func `of the object layer, only what reads the runtime's metadata uses raw memory`() {
    for folder in ["Model", "Collections", "Query", "Realm"] {
      let files = Self.files(of: folder, in: "RealmSwift")
      #expect(!files.isEmpty)
      for file in files {
        #expect(
          !file.code.contains("Unsafe") && !file.code.contains("unsafeBitCast"),
          "\(folder)/\(file.name) uses raw memory")
      }
    }
  }

  @Test func `the floors exist and hold files`() {
    #expect(Self.files(of: "Node").count > 5)
    #expect(Self.declaredTypes(in: "package final class A {\n  struct B\nenum C") == ["A", "C"])
  }
}
