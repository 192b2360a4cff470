/// The user of a channel of a connection: the session of a file.
package protocol ConnectionMember: AnyObject, Sendable {
  /// The state of the connection has changed. The member only has to pass it on.
  func connectionBecame(_ state: ConnectionState)
  /// A channel is open, on which the session may begin.
  ///
  /// - Parameter run: the number with which the member has joined.
  func opened(channel: UInt64, run: UInt64)
  /// A frame has arrived on the channel. When it was processed, `taken` of the connection has to be called.
  func received(_ frame: [UInt8], on channel: UInt64)
  /// The channel is closed.
  func closed(channel: UInt64, because end: ChannelEnd)
  /// The connection could not be made. It goes on trying, unless the loss is final.
  func failed(_ loss: ConnectionLoss, run: UInt64)
}

/// The reason why a channel is closed.
package enum ChannelEnd: Sendable, Equatable {
  /// The server has closed only this channel. The member has to ask for another one.
  case server
  /// The connection is lost. Another one is made by itself after a while.
  case loss(ConnectionLoss)
  /// Another connection is made at once.
  case renewal
}

package enum ConnectionState: Sendable, Equatable {
  case disconnected
  case connecting
  case connected
}

/// The reason why there is no connection.
package enum ConnectionLoss: Error, Sendable, Equatable {
  /// The server can't be reached now.
  case network(NetworkProblem)
  /// The server has closed the connection, with a code of RFC 6455 or docs/sync-protocol.md.
  case closed(code: UInt16, text: String)
  /// The server has answered with a status that lets no client in.
  case refused(status: Int)
  /// Something in front of the server has answered with a status that lets no client in, until somebody changes that.
  case barred(status: Int)
  /// The user is logged out.
  case loggedOut(String)

  /// True if no other try is made before somebody asks for it.
  package var isFinal: Bool {
    switch self {
    case .network, .closed, .barred: false
    case .refused, .loggedOut: true
    }
  }
}
