@preconcurrency import Dispatch
import Foundation

/// Handles signals of the system, which then do not end the process any more.
struct Signals {
  private let sources: [any DispatchSourceSignal]

  /// - Parameter body: called on a queue of the system for each signal that comes.
  init(_ numbers: [Int32], _ body: @escaping @Sendable () -> Void) {
    sources = numbers.map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler(handler: body)
      source.activate()
      return source
    }
  }

  func cancel() { for source in sources { source.cancel() } }

  /// Waits for one of the signals.
  static func wait(for numbers: [Int32]) async {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    let signals = Signals(numbers) { continuation.yield() }
    for await _ in stream { break }
    signals.cancel()
    // A second signal ends the process at once.
    for number in numbers { signal(number, SIG_DFL) }
  }
}
