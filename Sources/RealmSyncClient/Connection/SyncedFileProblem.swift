import RealmSync

/// Why what was waited for does not come, or why the session of a file has ended.
package enum SyncedFileProblem: Error, Sendable, Equatable {
  /// The session was stopped: by the app, since the user is logged out, or since the file was closed.
  case stopped
  case loggedOut(String)
  /// The server can't be reached now; it is tried again.
  case network(NetworkProblem)
  /// The server lets no client in: the status of the answer.
  case refused(status: Int)
  /// What stands before the server lets no client in: the status of the answer. It is tried again.
  case barred(status: Int)
  /// The server has ended the session.
  case ended(ProtocolError)
  /// The session can't go on with the file.
  case failed(ClientProblem)
  /// Another handle of the file has the session, which alone knows what the server has.
  case otherAgent
  /// The server can't use a query set.
  case querySetRefused(code: UInt32, text: String)

  package init(_ loss: ConnectionLoss) {
    self =
      switch loss {
      case .network(let problem): .network(problem)
      case .closed(let code, let text):
        .network(.lost("The server has closed the connection (\(code)\(text.isEmpty ? "" : ", \(text)"))."))
      case .refused(let status): .refused(status: status)
      case .barred(let status): .barred(status: status)
      case .loggedOut(let text): .loggedOut(text)
      }
  }

  /// What the server says against a query set.
  package var refusedText: String? {
    if case .querySetRefused(_, let text) = self { text } else { nil }
  }
}
