import RealmStorage
import RealmSync

/// Changes that the server has refused. They are undone already, and are kept in the file until the app was told.
extension SyncedFile {
  func hasRefusals() -> Bool {
    do throws(ClientProblem) {
      return try !session.reading { (file) throws(ClientProblem) in try file.refusals().isEmpty }
    } catch { return false }
  }

  /// The kept refusals behind a number, and the number of the last one of all. It must be called in turn with the
  /// session.
  package func refusals(
    after number: UInt64
  ) throws(ClientProblem) -> (refusals: [Refusal], last: UInt64) {
    let all = try session.reading { (file) throws(ClientProblem) in try file.refusals() }
    return (all.filter { $0.number > number }.map(\.refusal), all.last?.number ?? number)
  }

  /// Forgets the refusals up to a number, because the app was told. If the file is closed, it keeps them, and the app
  /// is told again.
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
