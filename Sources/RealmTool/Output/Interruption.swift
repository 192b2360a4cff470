import Foundation
import Synchronization

/// Whether Ctrl-C was pressed, or the program was asked to end: a command then ends in order, and leaves no half file.
enum Interruption {
  private static let wanted = Atomic(false)

  static var isWanted: Bool { wanted.load(ordering: .relaxed) }

  /// From now on a first signal is noted only. A second one ends the program at once.
  static func note() {
    // A program that starts this one may have left them blocked.
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, number) }
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      signal(number) { number in
        Interruption.wanted.store(true, ordering: .relaxed)
        signal(number, SIG_DFL)
      }
    }
  }
}
