#if Sync
  import NIOCore
  import RealmWebSocket

  extension SocketChannel {
    /// The time that the other side has to close a connection that is at its end.
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
        // The answer stands behind the messages that have arrived and were not passed on.
        deliver()
        resumeReading()
      case .closing, .ending, .closed: break
      }
    }

    /// Handles a close frame of the other side.
    func noteClose(_ code: UInt16?, _ reason: String) {
      guard state == .open else { return drop(.closedHere) }
      end(with: FrameWriter(.client).close(code), .code(code ?? CloseCode.noCode, reason))
    }

    /// Ends the WebSocket because the other side has broken a rule.
    func fail(_ failure: FrameFailure) {
      guard state == .open else { return drop(.closedHere) }
      let text = "\(peer.address.place) has broken a rule of WebSockets: \(failure.text) Check the address."
      end(with: FrameWriter(.client).close(failure.code, failure.text), .problem(.damaged(text)))
    }

    /// Sends a last frame. The other side closes the connection then. It gets the frame for certain only if it closes
    /// first, because its system reports a connection that was closed with unread bytes before it passes on what was
    /// not read.
    private func end(with frame: ByteBuffer, _ end: SocketEnd) {
      state = .ending
      write(frame)
      flush()
      finish(end)
      // The write may have failed, and then the connection is closed already.
      guard state == .ending else { return }
      closeTimer.set(Self.patience, on: eventLoop) { [weak self] in self?.drop(nil) }
      resumeReading()
    }

    /// Closes the connection without another frame.
    ///
    /// - Parameter end: the last event; nil if it was passed on already.
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
