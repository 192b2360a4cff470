#if Sync
  import NIOCore

  extension SocketChannel {
    /// Opens the connection, and asks for a WebSocket.
    func connect() {
      let timeout = TimeAmount.limit(request.connectTimeout)
      if let timeout {
        connectTimer.set(timeout, on: eventLoop) { [weak self] in self?.openingTimedOut() }
      }
      handshake.whenDone = { [weak self] outcome in
        switch outcome {
        case .accepted: self?.becomeOpen()
        case .ended(let end): self?.drop(end)
        }
      }
      // The closure keeps this object, because nothing else does until there is a connection.
      peer.connect(within: timeout, on: eventLoop) { self.begin($0) }
    }

    private func begin(_ result: Result<any Channel, NetworkProblem>) {
      switch result {
      case .failure(let problem): if state == .opening { drop(.problem(problem)) }
      case .success(let channel):
        // The WebSocket may be closed already.
        guard state == .opening else { return channel.close(mode: .all, promise: nil) }
        self.channel = channel
        do {
          try peer.addTLS(to: channel)
          try channel.pipeline.syncOperations.addHandler(self)
          try NetworkPeer.addHTTP(to: channel)
          try channel.pipeline.syncOperations.addHandler(handshake)
          try NetworkPeer.startReading(channel)
        } catch {
          drop(.problem(NetworkProblem(error, with: peer.address)))
        }
      }
    }

    private func openingTimedOut() {
      guard state == .opening else { return }
      if let refusal = handshake.refusal { return drop(.refused(refusal)) }
      drop(.problem(.outOfTime(peer.address)))
    }
  }
#endif
