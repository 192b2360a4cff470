import Foundation
import RealmStorage
import Synchronization

/// Tells a program what changed in a realm since it looked last, also when it did not run meanwhile.
///
///     for try await batch in try realm.changeFeed(since: "search index") {
///       for change in batch.changes { index.update(change) }
///     }
///
/// The token is a name. The file keeps the version that was told last under this name, so that the next run goes on there: what changed is found by
/// comparing that version with the newest one, and no log is written. Several commits that came meanwhile are told as one batch: an object that was
/// added and deleted in between is not told, and a property that was set twice has the value from before and the newest one.
///
/// The first time a token is used, all objects there are are told as inserted, in batches of at most 4,096. The token moves on when the next batch is asked for, or by
/// `Batch.acknowledge()`: a batch whose work was cut short is told again, with all that has changed since. So work that is done twice must do no harm.
///
/// A version that is kept takes room in the file: `realm stats` tells how much. Where that becomes too much the version is given up, and the feed
/// ends with an error; `Realm.endChangeFeed(_:)` drops a token that is needed no more.
public struct ChangeFeed: AsyncSequence, Sendable {
  /// The name of a feed, in the file.
  public struct Token: Sendable, Hashable, ExpressibleByStringLiteral {
    /// 1 to 200 bytes.
    public let name: String

    public init(_ name: String) { self.name = name }
    public init(stringLiteral name: String) { self.init(name) }
  }

  public typealias Element = Batch
  public typealias Failure = any Error

  /// The file stays open for as long as the feed is there.
  let hold: RealmFile.Hold
  let token: Token
  let names: FeedNames
  var database: Database { hold.file.database }

  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Waits for changes. It belongs to one task.
  public struct Iterator: AsyncIteratorProtocol {
    private let feed: ChangeFeed
    private let waiting: FeedWaiting
    private var state = State.new
    private var told: Batch?
    /// The version that the file keeps for the feed; nil before it keeps one.
    private var kept: UInt64?

    private enum State {
      case new
      /// The objects there were when the token was first used.
      case first(FirstContent)
      /// What was told last.
      case following(Snapshot)
      case ended
    }

    init(_ feed: ChangeFeed) {
      self.feed = feed
      waiting = FeedWaiting(feed.database)
    }

    /// The next changes; waits for some. Nil when the task is cancelled. Takes a thread while it waits.
    ///
    /// Moves the token to the batch before, which takes a small commit.
    ///
    /// - Throws: `Realm.Error`: `.fail` where the version of the token was given up, since it kept more room than is allowed, and where
    ///   the schema lost a class or a property: read the realm anew then, and begin another feed. The feed has ended then. Other codes
    ///   as of reading and writing.
    public mutating func next() async throws -> Batch? {
      do {
        while !Task.isCancelled {
          if let told {
            // Not in the task's thread: it waits for transactions, which may need that thread to end.
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
          // Else the file would keep more and more for changes that nobody is told.
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

    /// What there is to tell now; nil where nothing changed.
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

    /// More than there are feeds of a file: their tokens move by commits too, and would move each other on without end.
    private static let mostUntold: UInt64 = 256
  }
}

@available(*, unavailable)
extension ChangeFeed.Iterator: Sendable {}

extension Realm {
  /// Follows the changes of the classes of this realm, from where a token was left; see `ChangeFeed`. The feed keeps the file open, and may be
  /// read by any task.
  ///
  /// - Parameter token: names the feed. Two feeds of one name at the same time take changes from each other.
  /// - Throws: `Realm.Error`: `.filePermissionDenied` for a realm that is only read, `.invalidInput` for a name that is none.
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

  /// Drops the version that the file keeps for a feed. A feed of the name begins anew then, and one that runs ends. Answers whether there was one.
  ///
  /// - Precondition: this thread has no open write transaction.
  /// - Throws: `Realm.Error` of the commit.
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

/// Waits for commits of any process, in a thread that is not the task's.
private final class FeedWaiting: Sendable {
  private let database: Database
  private let queue = DispatchQueue(label: "io.realm.change-feed")

  init(_ database: Database) { self.database = database }

  /// Calls `body` in the thread that waits.
  func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Swift.Result { try body() }) }
    }
  }

  /// Returns when there is a later version, when the task is cancelled, or where that can't be told.
  func wait(after version: UInt64) async {
    let isCancelled = Mutex(false)
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        queue.async { [database] in
          while !isCancelled.withLock({ $0 }) {
            do throws(StorageError) {
              // Now and then it looks whether it is still waited for.
              if try database.waitForCommit(after: version, timeout: .milliseconds(200)) != nil { break }
            } catch {
              // Who asks next is told.
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
