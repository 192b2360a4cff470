import RealmStorage
import RealmSync

/// Changes that the server has refused. They are undone already, and are kept in the file until the app was told.
extension SyncedFile {
  func hasRefusals() -> Bool {
    do throws(ClientProblem) {
      return try !session.reading { (file) throws(ClientProblem) in try file.refusals().isEmpty }
    } catch { return false }
  }

  /// What was refused and is kept, behind the one of a number, with the number of the last of all. In turn with the session.
  package func refusals(
    after number: UInt64
  ) throws(ClientProblem) -> (refusals: [Refusal], last: UInt64) {
    let all = try session.reading { (file) throws(ClientProblem) in try file.refusals() }
    return (all.filter { $0.number > number }.map(\.refusal), all.last?.number ?? number)
  }

  /// The app was told what was refused, up to a number. A file that is closed keeps it, and the app is told again.
  package func forgetRefusals(upTo number: UInt64) {
    inTurn { [self] in
      guard !hasEnded else { return }
      do throws(ClientProblem) {
        try session.inFile(.relaxed) { (file) throws(ClientProblem) in
          try file.forgetRefusals(upTo: number)
        }
      } catch {
        handler?.file(self, lost: .failed(error))
      }
    }
  }
}
