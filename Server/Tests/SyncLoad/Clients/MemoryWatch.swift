import Foundation
import Synchronization

/// Measures again and again how much memory this process holds besides mapped files.
final class MemoryWatch: Sendable {
  private struct State {
    var most: Int
    var isOver = false
  }

  /// The number of bytes at the beginning; 0 if the system does not report it.
  let atStart: Int
  private let state: Mutex<State>

  /// The seconds between two looks. Memory that is held for less time is missed.
  private static let pause = 0.005

  init() {
    atStart = Self.bytes
    state = Mutex(State(most: atStart))
    Thread.detachNewThread { [self] in
      while look() { Thread.sleep(forTimeInterval: Self.pause) }
    }
  }

  private static var bytes: Int { ProcessFigures.bytes("RssAnon", of: "self") ?? 0 }

  private func look() -> Bool {
    let bytes = Self.bytes
    return state.withLock { state in
      state.most = max(state.most, bytes)
      return !state.isOver
    }
  }

  /// Ends the measuring.
  ///
  /// - Returns: The greatest number of bytes.
  func end() -> Int {
    _ = look()
    return state.withLock { state in
      state.isOver = true
      return state.most
    }
  }
}
