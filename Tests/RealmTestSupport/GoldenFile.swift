import Foundation

/// A file of `Tests/Golden`. A library wrote it once, it never changes, and every later library must read it.
package struct GoldenFile: Sendable, CustomStringConvertible {
  /// The formats that the library reads.
  package enum Format: String, CaseIterable, Sendable {
    /// The last draft, which is read like format 1.
    case draft4 = "draft-4"
    case one = "format-1"
  }

  package enum Content: String, CaseIterable, Sendable {
    /// The content that `GoldenSample` makes.
    case sample
    /// The content that `GoldenStructures` makes.
    case structures
    /// The content that `SyncedWorld` makes, of a server and of two clients.
    case server, client, neighbour

    package var isSynced: Bool { self == .client || self == .neighbour }
  }

  package let format: Format
  package let content: Content
  package let isEncrypted: Bool
  /// Whether the file was closed cleanly. If not, the process that had it open died.
  package let isClean: Bool

  package init(_ format: Format, _ content: Content, isEncrypted: Bool, isClean: Bool = true) {
    (self.format, self.content) = (format, content)
    (self.isEncrypted, self.isClean) = (isEncrypted, isClean)
  }

  /// The key of the encrypted files.
  package static let key = [UInt8](0..<64).map { $0 &* 5 &+ 3 }

  package static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Golden")

  package static let all: [GoldenFile] = Format.allCases.flatMap { format in
    Content.allCases.flatMap { content in
      [false, true].flatMap { isEncrypted in
        (content == .structures ? [true, false] : [true]).map { isClean in
          GoldenFile(format, content, isEncrypted: isEncrypted, isClean: isClean)
        }
      }
    }
  }

  package var key: [UInt8]? { isEncrypted ? Self.key : nil }

  package var description: String {
    "\(format.rawValue)/\(content)-\(isEncrypted ? "encrypted" : "plain")-\(isClean ? "clean" : "unclean").realm"
  }

  package var url: URL { Self.folder.appending(path: description) }

  package func bytes() throws -> [UInt8] { [UInt8](try Data(contentsOf: url)) }

  /// The output of `realm dump --json` for the content.
  package var dump: URL { Self.folder.appending(path: "dumps/\(content).jsonl") }

  /// Whether the tests write missing files of the current format, instead of only reading files.
  package static let isWritten = ProcessInfo.processInfo.environment["REALM_WRITE_GOLDEN"] == "1"
}
