import Foundation
import RealmSwift
import Synchronization
import Testing

/// The error if an expected event has not happened.
struct Overdue: Error, CustomStringConvertible {
  let limit: Duration
  let place: SourceLocation

  var description: String { "What was waited for at \(place) has not happened within \(limit)." }
}

/// Waits until a condition holds.
///
/// - Throws: `Overdue`.
@MainActor func eventually(
  within limit: Duration = .seconds(60), at place: SourceLocation = #_sourceLocation,
  _ isTrue: @MainActor () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + limit
  while try await !isTrue() {
    guard ContinuousClock.now < end else { throw Overdue(limit: limit, place: place) }
    try await Task.sleep(for: .milliseconds(5))
  }
}

/// Waits until a condition holds in a realm, which is refreshed before each look.
///
/// - Throws: `Overdue`.
@MainActor func eventually(
  in realm: Realm, within limit: Duration = .seconds(60), at place: SourceLocation = #_sourceLocation,
  _ isTrue: @MainActor () throws -> Bool
) async throws {
  try await eventually(within: limit, at: place) {
    realm.refresh()
    return try isTrue()
  }
}

/// Runs `body`, which must end soon.
///
/// - Throws: The error of `body`; `Overdue` if it does not end.
func within<Value: Sendable>(
  _ limit: Duration = .seconds(60), at place: SourceLocation = #_sourceLocation,
  _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    let first = FirstResult(continuation)
    let work = Task {
      do {
        first.finish(.success(try await body()))
      } catch {
        first.finish(.failure(error))
      }
    }
    Task {
      try? await Task.sleep(for: limit)
      first.finish(.failure(Overdue(limit: limit, place: place)))
      work.cancel()
    }
  }
}

/// Takes one result. Later results have no effect.
private final class FirstResult<Value: Sendable>: Sendable {
  private let continuation: Mutex<CheckedContinuation<Value, any Error>?>

  init(_ continuation: CheckedContinuation<Value, any Error>) {
    self.continuation = Mutex(continuation)
  }

  func finish(_ result: Result<Value, any Error>) {
    let waiting = continuation.withLock { continuation in continuation.take() }
    waiting?.resume(with: result)
  }
}

/// The values with which blocks of an app were called, in order.
final class Calls<Value: Sendable>: Sendable {
  private let values = Mutex<[Value]>([])

  var all: [Value] { values.withLock { $0 } }
  var count: Int { values.withLock { $0.count } }

  func add(_ value: Value) { values.withLock { $0.append(value) } }

  /// Waits for the first call.
  @MainActor func first(at place: SourceLocation = #_sourceLocation) async throws -> Value {
    try await eventually(at: place) { count > 0 }
    return all[0]
  }
}

extension SyncSession {
  /// Waits until the server has all changes that are committed now.
  func uploaded(at place: SourceLocation = #_sourceLocation) async throws {
    try await within(at: place) { try await self.wait(for: .upload) }
  }

  /// Waits until all objects that the server has now can be read here.
  func downloaded(at place: SourceLocation = #_sourceLocation) async throws {
    try await within(at: place) { try await self.wait(for: .download) }
  }
}

extension Realm {
  /// The session of the realm. A realm without sync fails the test.
  @MainActor func sync(at place: SourceLocation = #_sourceLocation) throws -> SyncSession {
    try #require(syncSession, sourceLocation: place)
  }

  /// Waits until the server has all changes that are committed now.
  @MainActor func upload(at place: SourceLocation = #_sourceLocation) async throws {
    try await sync(at: place).uploaded(at: place)
  }

  /// Waits until all objects that the server has now can be read in this realm.
  @MainActor func download(at place: SourceLocation = #_sourceLocation) async throws {
    try await sync(at: place).downloaded(at: place)
    refresh()
  }
}

/// Opens a realm of the main actor with the objects in its file.
@MainActor func opened(_ configuration: Realm.Configuration) throws -> Realm {
  try Realm(configuration: configuration)
}

/// Opens a realm of the main actor. Throws `Overdue` if that takes long.
@MainActor func opened(
  _ configuration: Realm.Configuration, _ behavior: Realm.OpenBehavior,
  at place: SourceLocation = #_sourceLocation
) async throws -> Realm {
  let box = RealmBox()
  try await within(at: place) { @MainActor in
    box.realm = try await Realm(configuration: configuration, downloadBeforeOpen: behavior)
  }
  return try #require(box.realm, sourceLocation: place)
}

@MainActor private final class RealmBox {
  var realm: Realm?
}
