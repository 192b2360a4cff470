import RealmSync

/// The reason why a wait has failed, or why the session of a file has ended.
package enum SyncedFileProblem: Error, Sendable, Equatable {
  /// The session was stopped, by the app, because the user is logged out, or because the file was closed.
  case stopped
  case loggedOut(String)
  /// The server can't be reached now. Another try follows.
  case network(NetworkProblem)
  /// The server lets no client in. `status` is that of its answer.
  case refused(status: Int)
  /// Something in front of the server lets no client in. `status` is that of its answer. Another try follows.
  case barred(status: Int)
  /// The server has ended the session.
  case ended(ProtocolError)
  /// The session can't go on with the file.
  case failed(ClientProblem)
  /// Another handle of the file has the session, and only that session knows what the server has.
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

  /// The text of the server if it has refused a query set; otherwise nil.
  package var refusedText: String? {
    if case .querySetRefused(_, let text) = self { text } else { nil }
  }
}
