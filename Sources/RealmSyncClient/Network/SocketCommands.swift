#if Sync
  import NIOCore
  import Synchronization

  /// What other threads ask of a WebSocket, in its order. What is asked for at the same time is done at once, so that messages
  /// are handed to the system together.
  final class SocketCommands: Sendable {
    enum Command: Sendable {
      /// A whole frame.
      case send(ByteBuffer)
      case taken(Int)
      case close
    }

    private struct State {
      var waiting: [Command] = []
      var hasEnded = false
    }

    private let state = Mutex(State())

    var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Adds a command behind the others, unless the WebSocket has ended.
    ///
    /// - Returns: it is the first one, so that the event loop is to be told.
    func add(_ command: Command) -> Bool {
      state.withLock { state in
        guard !state.hasEnded else { return false }
        state.waiting.append(command)
        return state.waiting.count == 1
      }
    }

    /// The commands since the last call.
    func take() -> [Command] {
      state.withLock { state in
        let waiting = state.waiting
        state.waiting = []
        return waiting
      }
    }

    /// The WebSocket has ended: nothing is asked of it any more.
    func end() { state.withLock { $0 = State(waiting: [], hasEnded: true) } }
  }
#endif
