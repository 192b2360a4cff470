#if Sync
  import NIOCore
  import RealmWebSocket

  extension SocketChannel {
    /// How long the other side has to close a connection that is at its end.
    private static let patience = TimeAmount.seconds(1)

    /// Closes the WebSocket from this side.
    func close() {
      switch state {
      case .opening: drop(.closedHere)
      case .open:
        state = .closing
        life.stop()
        write(FrameWriter(.client).close(CloseCode.normal))
        flush()
        closeTimer.set(Self.patience, on: eventLoop) { [weak self] in self?.drop(.closedHere) }
        // The answer stands behind the messages that have come and were not told.
        deliver()
        resumeReading()
      case .closing, .ending, .closed: break
      }
    }

    /// The other side has said that it closes the WebSocket.
    func noteClose(_ code: UInt16?, _ reason: String) {
      guard state == .open else { return drop(.closedHere) }
      end(with: FrameWriter(.client).close(code), .code(code ?? CloseCode.noCode, reason))
    }

    /// The other side has broken a rule.
    func fail(_ failure: FrameFailure) {
      guard state == .open else { return drop(.closedHere) }
      let text = "\(peer.address.place) has broken a rule of WebSockets: \(failure.text) Check the address."
      end(with: FrameWriter(.client).close(failure.code, failure.text), .problem(.damaged(text)))
    }

    /// Sends a last frame. The other side closes the connection then: it gets the frame for certain only where it does so first,
    /// because the system tells it of a connection that was closed with bytes unread before what it has not read.
    private func end(with frame: ByteBuffer, _ end: SocketEnd) {
      state = .ending
      write(frame)
      flush()
      finish(end)
      // To write may have failed, and the connection be closed.
      guard state == .ending else { return }
      closeTimer.set(Self.patience, on: eventLoop) { [weak self] in self?.drop(nil) }
      resumeReading()
    }

    /// Closes the connection without more words.
    ///
    /// - Parameter end: nil where the last event was told.
    func drop(_ end: SocketEnd?) {
      guard state != .closed else { return }
      state = .closed
      closeTimer.cancel()
      let channel = self.channel
      self.channel = nil
      channel?.close(mode: .all, promise: nil)
      if let end { finish(end) }
    }
  }
#endif
