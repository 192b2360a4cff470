import Foundation
import RealmServer
import RealmStorage

extension DataFolder {
  /// The findings of a check, as a text for people.
  public struct Finding: Sendable {
    public let text: String
    public let isGood: Bool
  }

  /// Reads the files of all apps, node by node.
  ///
  /// - Returns: one finding for each file. If a server runs in the folder there is one finding alone, because the
  ///   server changes the files meanwhile.
  public func checkFiles() throws -> [Finding] {
    guard FileManager.default.fileExists(atPath: url.path) else { return [] }
    guard let lock = try hold() else {
      return [Finding(text: "A server runs in the folder: its files are not checked.", isGood: true)]
    }
    defer { withExtendedLifetime(lock) {} }
    var findings: [Finding] = []
    for app in try apps() {
      for file in [state(of: app), accounts(of: app)] {
        guard FileManager.default.fileExists(atPath: file.path) else { continue }
        findings.append(check(file.path))
      }
    }
    return findings
  }

  private func check(_ path: String) -> Finding {
    do {
      var options = DatabaseOptions()
      options.history = .any
      options.isReadOnly = true
      let database = try Database(path: path, options: options)
      defer { database.close() }
      let problems = try SyncAppCheck.problems(database)
      guard problems.isEmpty else {
        return Finding(text: "\(path) is damaged:\n" + problems.joined(separator: "\n"), isGood: false)
      }
      return Finding(text: "\(path) is sound.", isGood: true)
    } catch {
      return Finding(text: "\(path) can't be read: \(error)", isGood: false)
    }
  }
}
