#if Sync
  import NIOCore
  import RealmWebSocket

  extension SocketChannel {
    func startPinging() {
      guard let time = life.firstPing else { return }
      awaitPing(time)
    }

    private func awaitPing(_ time: TimeAmount) {
      life.pingTimer.set(time, on: eventLoop) { [weak self] in self?.ping() }
    }

    private func ping() {
      guard state == .open, let next = life.nextPing else { return }
      awaitPing(next)
      // If a ping still waits behind many messages, a second ping is not needed.
      guard !life.isPingWaiting else { return }
      life.isPingWaiting = true
      if life.expectPong() { awaitPong() }
      writeNow(FrameWriter(.client).frame(.ping, [])) { $0.life.isPingWaiting = false }
    }

    /// Writes a frame, and calls `then` when the system has taken it.
    private func writeNow(_ frame: ByteBuffer, _ then: @escaping (SocketChannel) -> Void) {
      let written = eventLoop.makePromise(of: Void.self)
      written.futureResult.assumeIsolated().whenComplete { _ in then(self) }
      write(frame, written)
      flush()
    }

    private func awaitPong() {
      guard let time = life.pongWait else { return }
      life.pongTimer.set(time, on: eventLoop) { [weak self] in self?.checkPong() }
    }

    private func checkPong() {
      guard state == .open, life.expectsPong, let context else { return }
      // While this side reads nothing, no pong can arrive.
      if isPaused { life.noteSign() }
      let buffered = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
      life.noteBuffered(buffered)
      guard life.isSilent else { return awaitPong() }
      let text = "\(peer.address.place) does not answer any more. Check the network, and try again."
      drop(.problem(.timedOut(text)))
    }

    /// Answers a ping. While an answer waits to be taken by the system, only the newest of the pings that arrive gets
    /// another answer, so that a server that reads nothing can't make this side keep many answers.
    func answerPing(_ payload: [UInt8]) {
      guard !life.isPongWaiting else {
        life.nextPong = payload
        return
      }
      life.isPongWaiting = true
      writeNow(FrameWriter(.client).frame(.pong, payload)) { channel in
        channel.life.isPongWaiting = false
        guard channel.state == .open, let next = channel.life.nextPong else { return }
        channel.life.nextPong = nil
        channel.answerPing(next)
      }
    }
  }
#endif
