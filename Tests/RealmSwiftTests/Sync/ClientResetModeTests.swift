import Foundation
import Synchronization
import Testing

@testable import RealmSwift

/// The former names of modes. Calls through this protocol make no warnings of the compiler.
private protocol FormerModes {
  func bare() -> ClientResetMode
  func full(
    _ before: @escaping @Sendable (Realm) -> Void, _ after: @escaping @Sendable (Realm, Realm) -> Void
  ) -> ClientResetMode
}

private struct DiscardLocal: FormerModes {
  @available(*, deprecated)
  func bare() -> ClientResetMode { .discardLocal() }

  @available(*, deprecated)
  func full(
    _ before: @escaping @Sendable (Realm) -> Void, _ after: @escaping @Sendable (Realm, Realm) -> Void
  ) -> ClientResetMode {
    .discardLocal(beforeReset: before, afterReset: after)
  }
}

@Suite struct ClientResetModeTests {
  /// The blocks that were called.
  private final class Calls: Sendable {
    private let names = Mutex<[String]>([])

    func note(_ name: String) { names.withLock { $0.append(name) } }
    var all: [String] { names.withLock { $0 } }
  }

  private func name(_ mode: ClientResetMode) -> String {
    switch mode {
    case .manual: "manual"
    case .discardUnsyncedChanges: "discard"
    case .recoverUnsyncedChanges: "recover"
    case .recoverOrDiscardUnsyncedChanges: "recoverOrDiscard"
    }
  }

  @Test func `a mode has no callbacks if none are given`() {
    let modes: [ClientResetMode] = [
      .manual(), .discardUnsyncedChanges(), .recoverUnsyncedChanges(), .recoverOrDiscardUnsyncedChanges(),
      .manual(errorHandler: { _, _ in }),
    ]
    for mode in modes {
      let hasCallbacks = mode.callbacks.before != nil || mode.callbacks.after != nil
      #expect(!hasCallbacks, "\(name(mode))")
    }
    guard case .manual(nil) = modes[0], case .manual(_?) = modes[4] else {
      Issue.record("a manual mode has another handler than it was made with")
      return
    }
  }

  @Test func `a mode has the callbacks that it was made with`() throws {
    let calls = Calls()
    let realm = try memoryRealm()
    let before: @Sendable (Realm) -> Void = { _ in calls.note("before") }
    let after: @Sendable (Realm, Realm) -> Void = { _, _ in calls.note("after") }
    let modes: [(ClientResetMode, [String])] = [
      (.discardUnsyncedChanges(beforeReset: before, afterReset: after), ["before", "after"]),
      (.recoverUnsyncedChanges(beforeReset: before, afterReset: after), ["before", "after"]),
      (.recoverOrDiscardUnsyncedChanges(beforeReset: before, afterReset: after), ["before", "after"]),
      (.discardUnsyncedChanges(afterReset: after), ["after"]),
      (.recoverUnsyncedChanges(beforeReset: before), ["before"]),
      (.recoverOrDiscardUnsyncedChanges(afterReset: after), ["after"]),
    ]
    var expected: [String] = []
    for (mode, names) in modes {
      mode.callbacks.before?(realm)
      mode.callbacks.after?(realm, realm)
      expected += names
      #expect(calls.all == expected, "\(name(mode))")
    }
  }

  @Test func `a mode that was made by its former name is read as the newer case`() throws {
    let former: any FormerModes = DiscardLocal()
    #expect(name(former.bare()) == "discard")
    let calls = Calls()
    let mode = former.full { _ in
      calls.note("before")
    } _: { _, _ in
      calls.note("after")
    }
    guard case .discardUnsyncedChanges(let before?, let after?) = mode else {
      Issue.record("it is read as \(name(mode))")
      return
    }
    let realm = try memoryRealm()
    before(realm)
    after(realm, realm)
    #expect(calls.all == ["before", "after"])
  }
}
