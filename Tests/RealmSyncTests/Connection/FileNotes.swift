import RealmSyncClient
import Synchronization

/// Notes all that happens to a file.
final class FileNotes: SyncedFileHandler {
  enum Note: Sendable, Equatable {
    case became(ConnectionState)
    case changed
    case uploaded(UInt64, of: UInt64)
    case downloaded(UInt64, of: UInt64)
    case hasRefusals
    case willDownloadAnew
    case willBeReset
    case wasReset(isRecovered: Bool)
    case hasOtherAgent
    case retired(UInt64)
    case lost(SyncedFileProblem)
    case ended(SyncedFileProblem)
  }

  private let notes = Mutex<[Note]>([])
  /// The numbers of files that are gone.
  let gone = Mutex<[UInt64]>([])
  private let reaction = Mutex<(@Sendable (Note, SyncedFile) -> Void)?>(nil)

  var all: [Note] { notes.withLock { $0 } }

  func count(_ note: Note) -> Int { all.count { $0 == note } }

  /// The notes about the progress of uploads.
  var uploads: [Note] { all.filter { if case .uploaded = $0 { true } else { false } } }

  /// True if the session has ended and no other session begins without the app.
  var hasEnded: Bool { all.contains { if case .ended = $0 { true } else { false } } }

  /// Calls `body` with each event from now on, on the session's queue.
  func react(_ body: @escaping @Sendable (Note, SyncedFile) -> Void) { reaction.withLock { $0 = body } }

  private func add(_ note: Note, _ file: SyncedFile) {
    notes.withLock { $0.append(note) }
    let body = reaction.withLock { $0 }
    body?(note, file)
  }

  func file(_ file: SyncedFile, became state: ConnectionState) { add(.became(state), file) }
  func fileDidChange(_ file: SyncedFile) { add(.changed, file) }

  func file(_ file: SyncedFile, uploaded done: UInt64, of total: UInt64) {
    add(.uploaded(done, of: total), file)
  }

  func file(_ file: SyncedFile, downloaded done: UInt64, of total: UInt64, querySet: UInt64) {
    add(.downloaded(done, of: total), file)
  }

  func fileHasRefusals(_ file: SyncedFile) { add(.hasRefusals, file) }
  func fileWillDownloadAnew(_ file: SyncedFile) { add(.willDownloadAnew, file) }
  func fileWillBeReset(_ file: SyncedFile) { add(.willBeReset, file) }

  func fileWasReset(_ file: SyncedFile, isRecovered: Bool) {
    add(.wasReset(isRecovered: isRecovered), file)
  }

  func fileHasOtherAgent(_ file: SyncedFile) { add(.hasOtherAgent, file) }
  func goneReplicas(of file: SyncedFile) -> [UInt64] { gone.withLock { $0 } }
  func file(_ file: SyncedFile, retired replica: UInt64) { add(.retired(replica), file) }
  func file(_ file: SyncedFile, lost problem: SyncedFileProblem) { add(.lost(problem), file) }
  func file(_ file: SyncedFile, ended problem: SyncedFileProblem) { add(.ended(problem), file) }
}
