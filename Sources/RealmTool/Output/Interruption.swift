import CRealmPlatform
import Foundation
import RealmStorage
import Synchronization

/// The tool's reactions to signals: to Ctrl-C, and to a program or a terminal that asks the tool to end.
enum Interruption {
  private static let wanted = Atomic(false)
  /// Whether unfinished files are being removed, after which the program ends.
  private static let isEnding = Atomic(false)

  /// Whether a signal has come since `note()`. The command then ends in order, and leaves no half file.
  static var isWanted: Bool { wanted.load(ordering: .relaxed) }

  /// From now on the first signal only sets `isWanted`. A second one ends the program at once.
  static func note() {
    var signals = signalSet()
    // The program that starts this one may have blocked them.
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    for number in numbers() {
      signal(number) { number in
        Interruption.wanted.store(true, ordering: .relaxed)
        signal(number, SIG_DFL)
      }
    }
  }

  /// From now on a signal still ends the program at once, but the files of databases that it is making are removed before.
  ///
  /// For commands that copy or compact: they can't look at `isWanted`. Call it before other threads are started, because these
  /// must not take the signal.
  static func removeUnfinishedFiles() {
    var signals = signalSet()
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    Thread.detachNewThread {
      var signals = signalSet()
      var number: CInt = 0
      while sigwait(&signals, &number) != 0 {}
      isEnding.store(true, ordering: .relaxed)
      Database.removeUnfinishedFiles()
      // The thread of the command may just have been opening such a file. It has made the file's companions by then.
      Thread.sleep(forTimeInterval: 0.01)
      Database.removeUnfinishedFiles()
      signal(number, SIG_DFL)
      pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      kill(getpid(), number)
    }
  }

  /// Returns, unless a signal is about to end the program. The command has failed then because its file was removed, and must not
  /// report that as its error.
  static func stopIfEnding() {
    while isEnding.load(ordering: .relaxed) { pause() }
  }

  private static func signalSet() -> sigset_t {
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in numbers() { sigaddset(&signals, number) }
    return signals
  }

  /// The signals that ask a program to end. A program that `nohup` has started goes on when its terminal is closed.
  private static func numbers() -> [CInt] {
    [SIGINT, SIGTERM] + (cp_is_ignored(SIGHUP) == 1 ? [] : [SIGHUP])
  }
}
