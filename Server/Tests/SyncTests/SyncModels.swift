import Foundation
import RealmSwift
import Testing

/// A class that most tests write, and look for on other devices.
class Note: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var text = ""
  /// The id of a user, if rights need one.
  @Persisted var owner = ""
  @Persisted var count = 0

  convenience init(_ id: Int, _ text: String = "", owner: String = "") {
    self.init()
    (self.id, self.text, self.owner) = (id, text, owner)
  }
}

extension User {
  /// The configuration of a file that asks for all notes that the user may read.
  ///
  /// - Parameter url: The URL of the file; nil for the user's file. Another file is another device of the user.
  func notes(
    at url: URL? = nil, resets mode: ClientResetMode = .recoverUnsyncedChanges(),
    failsOffline: Bool = false
  ) -> Realm.Configuration {
    var configuration = flexibleSyncConfiguration(
      clientResetMode: mode, cancelAsyncOpenOnNonFatalErrors: failsOffline,
      initialSubscriptions: { subscriptions in subscriptions.append(QuerySubscription<Note>()) })
    configuration.objectTypes = [Note.self]
    if let url { configuration.fileURL = url }
    return configuration
  }

  /// Makes notes with these ids, and waits until the server has them. No realm is open afterwards.
  @MainActor func uploadNotes(_ ids: ClosedRange<Int>, text: String = "") async throws {
    let realm = try opened(notes())
    try realm.write { for id in ids { realm.add(Note(id, text)) } }
    try await realm.upload()
  }
}

extension Realm {
  /// The ids of all notes, in order.
  var noteIDs: [Int] { Array(objects(Note.self).sorted(byKeyPath: "id").map(\.id)) }

  /// The note with an id.
  func note(_ id: Int) -> Note? { object(ofType: Note.self, forPrimaryKey: id) }
}

/// True if estimates of progress are in 0…1, and rise until all is done. Later estimates start again.
func rises(_ estimates: [Double]) -> Bool {
  estimates.allSatisfy { (0...1).contains($0) }
    && zip(estimates, estimates.dropFirst()).allSatisfy { before, after in before < after || before == 1 }
}

/// A random text, which compression does not make shorter.
func noise(_ count: Int) -> String {
  let bytes = (0..<count * 3 / 4).map { _ in UInt8.random(in: 0...255) }
  return Data(bytes).base64EncodedString()
}
