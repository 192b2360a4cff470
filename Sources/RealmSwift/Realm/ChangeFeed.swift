import Foundation
import RealmStorage
import Synchronization

/// Tells a program what changed in a realm since the program looked last, even if it did not run in between.
///
///     for try await batch in try realm.changeFeed(since: "search index") {
///       for change in batch.changes { index.update(change) }
///     }
///
/// A feed is named by its token. Under this name the file keeps the last version whose changes were told, so that the next run of
/// the program goes on there: the feed compares that version with the newest one, and needs no log. Several commits that were
/// made in between are told as one batch: an object that was added and deleted in between is not told, and a property that was
/// set twice is told with the oldest value and the newest.
///
/// When a token is first used, all objects of the realm are told as inserted, in batches of at most 4,096. The token moves on
/// when the next batch is asked for, or by `Batch.acknowledge()`. A batch whose work was cut short is told again, with all that
/// has changed since. The work must therefore do no harm if it is done twice.
///
/// A version that is kept takes room in the file; `realm stats` prints how much. If that becomes too much, the library gives the
/// version up and the feed ends with an error. `Realm.endChangeFeed(_:)` drops a token that is not needed any more.
public struct ChangeFeed: AsyncSequence, Sendable {
  /// The name of a feed in the file.
  public struct Token: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The name, of 1 to 200 bytes in UTF-8. `Realm.changeFeed(since:)` refuses others.
    public let name: String

    /// Makes a token of a name.
    public init(_ name: String) { self.name = name }
    /// Makes a token of a literal name.
    public init(stringLiteral name: String) { self.init(name) }
  }

  public typealias Element = Batch
  /// A feed may throw a `Realm.Error`.
  public typealias Failure = any Error

  /// Keeps the file open as long as the feed exists.
  let hold: RealmFile.Hold
  let token: Token
  let names: FeedNames
  var database: Database { hold.file.database }

  /// Makes what waits for the changes. A program uses one iterator of a feed at a time.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Waits for changes. An iterator belongs to one task.
  public struct Iterator: AsyncIteratorProtocol {
    private let feed: ChangeFeed
    private let waiting: FeedWaiting
    private var state = State.new
    private var told: Batch?
    /// The version that the file keeps for the feed; nil before it keeps one.
    private var kept: UInt64?

    private enum State {
      case new
      /// The feed tells the objects that existed when the token was first used.
      case first(FirstContent)
      /// The feed tells what differs from this version, which is the last one whose changes were told.
      case following(Snapshot)
      case ended
    }

    init(_ feed: ChangeFeed) {
      self.feed = feed
      waiting = FeedWaiting(feed.database)
    }

    /// Returns the next changes, and waits until there are some. Returns nil if the task is cancelled, or if the token was
    /// dropped by `Realm.endChangeFeed(_:)`. The feed uses one thread while it waits.
    ///
    /// The call moves the token to the batch before, which takes a small commit.
    ///
    /// - Throws: `Realm.Error`: `.fail` if the version of the token was given up because it kept more room than is allowed, and
    ///   if the schema lost a class or a property; read the realm anew then, and begin another feed. Other codes if the file
    ///   can't be read or written. The feed ends with an error.
    public mutating func next() async throws -> Batch? {
      do {
        while !Task.isCancelled {
          if let told {
            // This runs outside of the task's thread, because it waits for write transactions, which may need that
            // thread to end.
            guard try await waiting.run({ try told.moveToken() }) else {
              state = .ended
              self.told = nil
              return nil
            }
            if told.isLast { kept = told.version }
            self.told = nil
          }
          let batch = try step()
          if let batch {
            told = batch
            return batch
          }
          guard case .following(let snapshot) = state else { return nil }
          // Without this, the file would keep more and more for changes of other classes, which the feed does not tell.
          if let kept, snapshot.version - Swift.min(kept, snapshot.version) >= Self.mostUntold {
            told = Batch(feed, [], snapshot, isFirst: false)
            continue
          }
          await waiting.wait(after: snapshot.version)
        }
        return nil
      } catch {
        state = .ended
        told = nil
        throw (error as? StorageError).map { Realm.Error($0) } ?? error
      }
    }

    /// Returns the next batch that can be told now; nil if nothing changed.
    private mutating func step() throws -> Batch? {
      switch state {
      case .ended: return nil
      case .new:
        if let last = try feed.database.snapshot(named: feed.token.name) {
          state = .following(last)
          kept = last.version
        } else {
          state = .first(try FirstContent(feed, feed.database.snapshot()))
        }
        return try step()
      case .first(var content):
        let batch = try content.next()
        state = content.isAtEnd ? .following(content.snapshot) : .first(content)
        return batch
      case .following(let last):
        let newest = try feed.database.snapshot()
        guard newest.version > last.version else { return nil }
        var reading = try FeedReading(feed.names, older: last, newer: newest)
        let changes = try reading.changes()
        state = .following(newest)
        return changes.isEmpty ? nil : Batch(feed, changes, newest, isFirst: false)
      }
    }

    /// The number of versions after which the token moves even if there was nothing to tell. It is larger than the
    /// number of feeds that a file has, because feeds move their tokens by commits too, and would otherwise make each
    /// other move without end.
    private static let mostUntold: UInt64 = 256
  }
}

@available(*, unavailable)
extension ChangeFeed.Iterator: Sendable {}

extension Realm {
  /// Follows the changes of the classes of this realm from the place that a token is at; see `ChangeFeed`. The feed keeps the
  /// file open. Any task may read it.
  ///
  /// - Parameter token: the name of the feed. Two feeds that use one name at the same time take changes from each other.
  /// - Throws: `Realm.Error`: `.filePermissionDenied` if the realm was opened with `readOnly`; `.invalidInput` if the name does
  ///   not have 1 to 200 bytes.
  public func changeFeed(since token: ChangeFeed.Token) throws -> ChangeFeed {
    session.check()
    session.checkCounted("be followed")
    guard !configuration.readOnly else {
      throw Realm.Error(StorageError.readOnly(path: session.file.database.path))
    }
    guard (1...200).contains(token.name.utf8.count) else {
      throw Realm.Error(.invalidInput, "The name of a change feed has 1 to 200 bytes; take a shorter one.")
    }
    return ChangeFeed(hold: session.file.hold(), token: token, names: FeedNames(storedClasses))
  }

  /// Drops the version that the file keeps for a feed. A feed that runs under this name ends, and a later one begins anew.
  /// Returns whether there was such a version.
  ///
  /// - Precondition: this thread has no open write transaction.
  /// - Throws: `Realm.Error` if the commit fails.
  @discardableResult
  public func endChangeFeed(_ token: ChangeFeed.Token) throws -> Bool {
    session.check()
    guard !session.isWriting else {
      raise("Change feed", "endChangeFeed(_:) commits by itself; call it after the write transaction.")
    }
    return try Realm.Error.wrapping { () throws(StorageError) in
      try session.file.database.dropVersion(named: token.name)
    }
  }
}

/// Waits for commits of any process, on a thread of its own.
private final class FeedWaiting: Sendable {
  private let database: Database
  private let queue = DispatchQueue(label: "io.realm.change-feed")

  init(_ database: Database) { self.database = database }

  /// Calls `body` on the thread that waits.
  func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Swift.Result { try body() }) }
    }
  }

  /// Returns when there is a later version, when the task is cancelled, or when the engine can't wait.
  func wait(after version: UInt64) async {
    let isCancelled = Mutex(false)
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        queue.async { [database] in
          while !isCancelled.withLock({ $0 }) {
            do throws(StorageError) {
              // The wait ends now and then, to test whether the task was cancelled.
              if try database.waitForCommit(after: version, timeout: .milliseconds(200)) != nil { break }
            } catch {
              // The next call that reads meets the same error and throws it.
              break
            }
          }
          continuation.resume()
        }
      }
    } onCancel: {
      isCancelled.withLock { $0 = true }
    }
  }
}
