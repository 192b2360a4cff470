/// Who uses a channel of a connection: the session of a file.
package protocol ConnectionMember: AnyObject, Sendable {
  /// The connection is being made, or was lost and is to be made again. Nothing is to be done but to tell it.
  func connectionBecame(_ state: ConnectionState)
  /// There is a channel, on which the session may begin.
  ///
  /// - Parameter run: the number with which the member has joined.
  func opened(channel: UInt64, run: UInt64)
  /// A frame has come on the channel. The connection is to be told by `taken` when it has been worked on.
  func received(_ frame: [UInt8], on channel: UInt64)
  /// There is no channel any more.
  func closed(channel: UInt64, because end: ChannelEnd)
  /// The connection could not be made. It goes on trying, unless the loss is final.
  func failed(_ loss: ConnectionLoss, run: UInt64)
}

/// Why there is no channel any more.
package enum ChannelEnd: Sendable, Equatable {
  /// The server has closed the channel alone. The member is to ask for another.
  case server
  /// The connection is lost. Another is made by itself, after a while.
  case loss(ConnectionLoss)
  /// The connection is made anew at once.
  case renewal
}

package enum ConnectionState: Sendable, Equatable {
  case disconnected
  case connecting
  case connected
}

/// Why there is no connection.
package enum ConnectionLoss: Error, Sendable, Equatable {
  /// The server can't be reached now.
  case network(NetworkProblem)
  /// The server has closed the connection, with a code of RFC 6455 or docs/sync-protocol.md.
  case closed(code: UInt16, text: String)
  /// The server has answered by a status that lets no client in.
  case refused(status: Int)
  /// What stands before the server has answered by a status that lets no client in, until somebody changes that.
  case barred(status: Int)
  /// The user is logged out.
  case loggedOut(String)

  /// Nothing is tried before somebody asks for it.
  package var isFinal: Bool {
    switch self {
    case .network, .closed, .barred: false
    case .refused, .loggedOut: true
    }
  }
}
