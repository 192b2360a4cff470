import Foundation
import RealmStorage
import Synchronization
import Testing

@testable import RealmSwift

@Suite struct SyncErrorTests {
  private static let codes: [(SyncError.Code, SyncError.Code, Int, String)] = [
    (.clientSessionError, SyncError.clientSessionError, 4, "clientSessionError"),
    (.clientUserError, SyncError.clientUserError, 5, "clientUserError"),
    (.clientInternalError, SyncError.clientInternalError, 6, "clientInternalError"),
    (.clientResetError, SyncError.clientResetError, 7, "clientResetError"),
    (.underlyingAuthError, SyncError.underlyingAuthError, 8, "underlyingAuthError"),
    (.permissionDeniedError, SyncError.permissionDeniedError, 9, "permissionDeniedError"),
    (
      .invalidFlexibleSyncSubscriptions, SyncError.invalidFlexibleSyncSubscriptions, 10,
      "invalidFlexibleSyncSubscriptions"
    ),
    (.writeRejected, SyncError.writeRejected, 11, "writeRejected"),
    (.connectionFailed, SyncError.connectionFailed, 12, "connectionFailed"),
    (.tlsHandshakeFailed, SyncError.tlsHandshakeFailed, 13, "tlsHandshakeFailed"),
    (.serverWarning, SyncError.serverWarning, 14, "serverWarning"),
  ]

  @Test func `errors have different codes, as SyncError and as NSError`() throws {
    for (code, constant, number, name) in Self.codes {
      #expect(code == constant && code.rawValue == number)
      do {
        throw SyncError(code, userInfo: [NSLocalizedDescriptionKey: "it failed"])
      } catch let error as NSError {
        #expect(error.domain == "io.realm.sync" && error.code == number)
        #expect(error.localizedDescription == "it failed")
        #expect(error.userInfo["Error Name"] as? String == name)
      }
    }
  }

  @Test func `an error is caught by its code, and not by another`() {
    func caught(_ error: any Error) -> String {
      do {
        throw error
      } catch SyncError.clientUserError {
        return "user"
      } catch SyncError.writeRejected {
        return "write"
      } catch {
        return "other"
      }
    }
    #expect(caught(SyncError(.clientUserError)) == "user")
    #expect(caught(SyncError(.writeRejected)) == "write")
    #expect(caught(SyncError(.serverWarning)) == "other")
    // Some codes of `Realm.Error` have the same numbers.
    #expect(caught(Realm.Error(.fileNotFound)) == "other")
  }

  @Test func `an NSError of the domain is a SyncError, and an NSError of another domain is not`() throws {
    let made: any Error = NSError(domain: "io.realm.sync", code: 9, userInfo: ["a": 1])
    let error = try #require(made as? SyncError)
    #expect(error.code == .permissionDeniedError && error.errorCode == 9 && error.userInfo["a"] as? Int == 1)
    let other: any Error = NSError(domain: "io.realm", code: 9)
    #expect(!(other is SyncError))
    let unknown: any Error = NSError(domain: "io.realm.sync", code: 1000)
    let read = try #require(unknown as? SyncError)
    #expect(read.code == .clientInternalError && read.errorCode == 1000)
  }

  @Test func `the other facts of an error have the names that the SDK gave them`() {
    let infos = [CompensatingWriteInfo(objectType: "Dog", key: .int(1), reason: "no")]
    let token = SyncError.ActionToken { true }
    let error =
      SyncError(.writeRejected, "a", action: token, recoveryPath: "b", compensatingWrites: infos, logURL: "c")
      as NSError
    #expect(error.userInfo["error_action_token"] as? SyncError.ActionToken === token)
    #expect(error.userInfo["recovered_realm_location_path"] as? String == "b")
    #expect((error.userInfo["Compensating Write Info"] as? [CompensatingWriteInfo])?.count == 1)
    #expect(error.userInfo["Server Log URL"] as? String == "c")
  }

  @Test func `errors are equal if their codes are equal`() {
    let error = SyncError(.serverWarning, userInfo: [NSLocalizedDescriptionKey: "a"])
    #expect(error == SyncError(.serverWarning, userInfo: [NSLocalizedDescriptionKey: "b"]))
    #expect(error.hashValue == SyncError(.serverWarning).hashValue)
    #expect(error != SyncError(.writeRejected, userInfo: [NSLocalizedDescriptionKey: "a"]))
    #expect(error.localizedDescription == "a" && "\(error)" == "a")
  }

  @Test func `only a reset and a denied permission leave an action to the app`() throws {
    let token = SyncError.ActionToken { true }
    for (code, _, _, _) in Self.codes {
      let error = SyncError(code, "it failed", action: token, recoveryPath: "/recovered")
      let isReset = code == .clientResetError
      if let (path, action) = error.clientResetInfo() {
        #expect(isReset && path == "/recovered" && action === token)
      } else {
        #expect(!isReset)
      }
      let isLeft = error.deleteRealmUserInfo() === token
      #expect(isLeft == (isReset || code == .permissionDeniedError))
      let bare = SyncError(code)
      let hasInfo = bare.clientResetInfo() != nil
      #expect(!hasInfo && bare.deleteRealmUserInfo() == nil)
    }
  }

  @Test func `an action happens once, however many tasks ask for it`() async {
    let count = Mutex(0)
    let token = SyncError.ActionToken {
      count.withLock { $0 += 1 }
      return true
    }
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<20 { group.addTask { token.run() } }
    }
    #expect(count.withLock { $0 } == 1)
  }

  @Test func `an action that failed can be asked for again`() {
    let count = Mutex(0)
    let token = SyncError.ActionToken {
      count.withLock { count in
        count += 1
        return count == 3
      }
    }
    for _ in 0..<5 { token.run() }
    #expect(count.withLock { $0 } == 3)
  }

  @Test func `a refusal of changes names their objects`() throws {
    let id = ObjectId.generate()
    let infos = [
      CompensatingWriteInfo(objectType: "Dog", key: .string("Rex"), reason: "no"),
      CompensatingWriteInfo(objectType: "Cat", key: id._value, reason: "never"),
      CompensatingWriteInfo(objectType: "Cow", key: .null, reason: "no class"),
      CompensatingWriteInfo(objectType: "Fly", key: .int(-7), reason: "too many"),
    ]
    let error = SyncError(.writeRejected, "it failed", compensatingWrites: infos)
    let told = try #require(error.compensatingWriteInfo)
    #expect(told.map(\.objectType) == ["Dog", "Cat", "Cow", "Fly"])
    #expect(told.map(\.reason) == ["no", "never", "no class", "too many"])
    let keys: [AnyRealmValue] = [.string("Rex"), .objectId(id), .none, .int(-7)]
    #expect(told.map(\.primaryKey) == keys)
    let other = SyncError(.serverWarning, "it failed", compensatingWrites: infos)
    let isTold = other.compensatingWriteInfo != nil
    #expect(!isTold)
  }

  @Test func `the server's log has a URL if the server has sent one`() {
    let error = SyncError(.serverWarning, "it failed", logURL: "https://example.com/log?id=1")
    #expect(error.localizedDescription == "it failed")
    #expect(error.serverLogURL?.absoluteString == "https://example.com/log?id=1")
    #expect(SyncError(.serverWarning).serverLogURL == nil)
  }

  @Test func `levels of the sync log are those of the logger`() throws {
    for number: UInt in 0...8 {
      let level = try #require(SyncLogLevel(rawValue: number))
      let other = try #require(LogLevel(rawValue: number))
      #expect(level.logLevel == other && SyncLogLevel(other) == level && "\(level)" == other.description)
    }
  }
}
