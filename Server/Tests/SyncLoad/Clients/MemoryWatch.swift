import Foundation
import Synchronization

/// Looks again and again how much memory this process holds beside mapped files.
final class MemoryWatch: Sendable {
  private struct State {
    var most: Int
    var isOver = false
  }

  /// Bytes at the beginning; 0 where the system does not tell it.
  let atStart: Int
  private let state: Mutex<State>

  /// It misses what is held for a shorter time than this, in seconds.
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

  /// Looks no more.
  ///
  /// - Returns: the most bytes that there were.
  func end() -> Int {
    _ = look()
    return state.withLock { state in
      state.isOver = true
      return state.most
    }
  }
}
