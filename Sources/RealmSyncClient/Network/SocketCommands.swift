#if Sync
  import NIOCore
  import Synchronization

  /// The commands of other threads for a WebSocket, in their order. Commands that are waiting together are carried out
  /// together, so that their messages are handed to the system at once.
  final class SocketCommands: Sendable {
    enum Command: Sendable {
      /// Sends a whole frame.
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
    /// - Returns: true if the command is the only one that waits, so that the event loop has to be told.
    func add(_ command: Command) -> Bool {
      state.withLock { state in
        guard !state.hasEnded else { return false }
        state.waiting.append(command)
        return state.waiting.count == 1
      }
    }

    /// Takes the commands since the last call.
    func take() -> [Command] {
      state.withLock { state in
        let waiting = state.waiting
        state.waiting = []
        return waiting
      }
    }

    /// Ends the commands, because the WebSocket has ended. Later commands are dropped.
    func end() { state.withLock { $0 = State(waiting: [], hasEnded: true) } }
  }
#endif
