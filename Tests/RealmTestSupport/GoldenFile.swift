import Foundation

/// A file of `Tests/Golden`: a library wrote it once, it never changes, and every later library has to read it.
package struct GoldenFile: Sendable, CustomStringConvertible {
  /// Of formats that are read.
  package enum Format: String, CaseIterable, Sendable {
    /// The last draft, which is read as number 1 is.
    case draft4 = "draft-4"
    case one = "format-1"
  }

  package enum Content: String, CaseIterable, Sendable {
    /// What `GoldenSample` says.
    case sample
    /// What `GoldenStructures` says.
    case structures
    /// What `SyncedWorld` says, of a server and of two clients.
    case server, client, neighbour

    package var isSynced: Bool { self == .client || self == .neighbour }
  }

  package let format: Format
  package let content: Content
  package let isEncrypted: Bool
  /// False: it is as a process leaves it that dies.
  package let isClean: Bool

  package init(_ format: Format, _ content: Content, isEncrypted: Bool, isClean: Bool = true) {
    (self.format, self.content) = (format, content)
    (self.isEncrypted, self.isClean) = (isEncrypted, isClean)
  }

  /// The key of those that are encrypted.
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

  /// What `realm dump --json` prints of the content.
  package var dump: URL { Self.folder.appending(path: "dumps/\(content).jsonl") }

  /// Whether files of the current format are to be written, instead of only read.
  package static let isWritten = ProcessInfo.processInfo.environment["REALM_WRITE_GOLDEN"] == "1"
}
