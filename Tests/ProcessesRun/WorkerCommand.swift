import ArgumentParser
import Foundation
import RealmStorage
import Synchronization
import RealmTestSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What a process of the run does.
enum Role: String, ExpressibleByArgument, CaseIterable {
  /// The process commits and reads in a thread for each slot.
  case write
  /// The process commits as many small changes as it can.
  case recycle
  /// The process takes and gives up snapshots as fast as it can.
  case read
  /// The process waits for each commit of other processes.
  case wait
  /// The process follows orders, line by line.
  case obey
  /// The process forks.
  case fork
  /// The process forks while it has a realm open.
  case forkObjects
  /// The process opens a file with the classes of a later version.
  case migrate
  /// The process commits to a synced file in a thread for each slot.
  case writeSynced
  /// The process runs a client's session, and follows orders.
  case syncClient
  /// The process prints although it lacks standard descriptors.
  case unheard
}

/// A process that the run starts. The command is not meant for people.
struct WorkerCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "worker", abstract: "A process that the run starts.", shouldDisplay: false)

  @Argument var role: Role
  @Argument var path: String
  @Option var seed: UInt64 = 0
  @Flag var encrypted = false
  @Option(help: "Commits of each slot; 0 is no end.") var commits = 0
  @Option(parsing: .upToNextOption) var slots: [Int] = []

  func run() throws {
    do {
      switch role {
      case .write, .recycle:
        Leash.hold()
        try Writers(path: path, isEncrypted: encrypted, commits: commits, isRecycling: role == .recycle)
          .run(slots: slots, seed: seed)
      case .read:
        Leash.hold()
        try Readers(path: path, isEncrypted: encrypted).run(seed: seed)
      case .wait:
        Leash.hold()
        try Waiter(path: path, isEncrypted: encrypted).run()
      case .writeSynced:
        Leash.hold()
        try SyncedWriters(path: path, isEncrypted: encrypted).run(slots: slots, seed: seed)
      case .syncClient: try SyncedClientProcess(path: path, isEncrypted: encrypted).run()
      case .obey: try Servant(path: path, isEncrypted: encrypted).run()
      case .fork: try Forker(path: path, isEncrypted: encrypted, seed: seed).run()
      case .unheard: try Unheard(path: path, isEncrypted: encrypted).run()
      case .migrate: try Migrator(path: path, isEncrypted: encrypted).run()
      case .forkObjects: try ObjectForker(path: path, isEncrypted: encrypted, seed: seed).run()
      }
    } catch let violation as Violation {
      Self.fail("\(role) \(getpid()): \(violation.what)")
    } catch {
      Self.fail("\(role) \(getpid()): an error that has no place here: \(error)")
    }
    // Threads that still wait are not stopped first.
    _exit(0)
  }

  static func fail(_ what: String) -> Never {
    FileHandle.standardError.write(Data((what + "\n").utf8))
    _exit(1)
  }

  static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}

/// Ends the process when its parent has ended, and asks it to stop when the parent sends a line.
enum Leash {
  private static let stopped = Atomic<Bool>(false)

  /// Whether the worker is to end after its present operation.
  static var isStopped: Bool { stopped.load(ordering: .acquiring) }
  static func stop() { stopped.store(true, ordering: .releasing) }

  static func hold() {
    Thread.detachNewThread {
      while readLine() != nil { stop() }
      _exit(3)
    }
  }
}
