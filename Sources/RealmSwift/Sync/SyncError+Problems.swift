import Foundation
import RealmStorage
import RealmSync
import RealmSyncClient

extension SyncError {
  /// The error that an app gets for a problem.
  static func of(_ problem: SyncedFileProblem, _ session: SyncSession?) -> SyncError {
    let code: Code
    switch problem {
    case .stopped, .otherAgent: code = .clientSessionError
    case .loggedOut: code = .clientUserError
    case .network(.tls): code = .tlsHandshakeFailed
    case .network: code = .connectionFailed
    case .refused: code = .clientSessionError
    case .barred: code = .connectionFailed
    case .querySetRefused: code = .invalidFlexibleSyncSubscriptions
    case .ended(let error):
      switch error.code {
      case 6: code = .clientUserError
      case 7: code = .permissionDeniedError
      default: code = error.action == .tryLater ? .connectionFailed : .clientSessionError
      }
    case .failed(let problem):
      switch problem {
      case .resetNeeded, .resetFailed: code = .clientResetError
      case .storage: code = .clientInternalError
      default: code = .clientSessionError
      }
    }
    return switch code {
    case .clientResetError: session?.resetError(problem.text) ?? SyncError(code, problem.text)
    case .permissionDeniedError: SyncError(code, problem.text, action: session?.deletion)
    default: SyncError(code, problem.text)
    }
  }

  /// The error that an app gets for changes that the server has refused. The changes are undone already.
  init(_ refusals: [Refusal], in database: Database) {
    let infos = refusals.map { CompensatingWriteInfo($0) }
    let texts = refusals.map { refusal in "\(refusal.subject.text): \(refusal.reason.text)" }
    let told = ServerText.readable(texts.joined(separator: "; "))
    self.init(
      .writeRejected, "The server has refused changes of \(database.path), which are undone: \(told).",
      compensatingWrites: infos)
  }
}

extension CompensatingWriteInfo {
  fileprivate convenience init(_ refusal: Refusal) {
    let reason = refusal.reason.text
    switch refusal.subject {
    case .object(let name):
      self.init(objectType: ServerText.readable(name.table), key: name.key, reason: reason)
    case .table(let table): self.init(objectType: ServerText.readable(table), key: .null, reason: reason)
    case .property(let table, let property):
      self.init(
        objectType: ServerText.readable(table), key: .null,
        reason: "property \(ServerText.readable(property)): \(reason)")
    }
  }
}

extension Refusal.Subject {
  /// The name of the subject for the error's message. The message has no primary keys, because they are values of the app.
  fileprivate var text: String {
    switch self {
    case .object(let name): "an object of \(name.table)"
    case .table(let table): "class \(table)"
    case .property(let table, let property): "property \(table).\(property)"
    }
  }
}

extension Refusal.Reason {
  fileprivate var text: String {
    switch self {
    case .keyInUse: "another object has this primary key, which this user does not see"
    case .outsideQuerySet: "no subscription would show it"
    case .notPermitted: "the user may not write it"
    case .schemaMismatch: "the server defines the class or the property otherwise"
    case .tooLarge:
      "it is larger than the server keeps, or has more classes or properties than the server allows"
    }
  }
}

extension SyncedFileProblem {
  /// Whether a person has to act, although the session keeps trying.
  var needsSomebody: Bool {
    switch self {
    case .barred: true
    // The user has too many files, or the server is full.
    case .ended(let error): error.code == 9
    default: false
    }
  }

  /// The message for an app. A part of it may come from the server.
  var text: String { ServerText.readable(whole) }

  private var whole: String {
    switch self {
    case .stopped:
      "The session became inactive: it was suspended, its realm was closed, or its user was logged out."
    case .loggedOut(let text): text
    case .network(let problem): problem.description
    case .refused(let status):
      "The server has refused the connection with the status \(status). Look whether the app's id and the server's address are right."
    case .barred(let status):
      "What stands before the server, as a proxy, has refused the connection with the status \(status). It is tried again. Look at its "
        + "rules: the sync server itself does not answer so."
    case .ended(let error): error.text
    case .failed(let problem): problem.description
    case .otherAgent:
      "Another process has the session of the file, which downloads for all of them. This one begins by itself when that one ends."
    case .querySetRefused(_, let text): text
    }
  }
}
