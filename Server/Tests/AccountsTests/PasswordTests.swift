import Dispatch
import Testing

@testable import Accounts

@Suite struct PasswordTests {
  private struct Running: Sendable {
    var now = 0
    var most = 0
  }

  init() throws { try #require(Sodium.isReady) }

  @Test func `a hash has its own salt, and fits only its password`() async throws {
    let passwords = Passwords(cost: .least)
    let password = try Password("secret-1")
    let (one, other) = (try await passwords.hash(password), try await passwords.hash(password))
    #expect(one != other && one.hasPrefix("$argon2id$") && !one.contains("secret-1"))
    #expect(try await passwords.matches(password, one))
    #expect(try await passwords.matches(password, other))
    #expect(try await !passwords.matches(Password("secret-2"), one))
    for damaged in ["", "$argon2id$", String(one.dropLast()), "secret-1"] {
      #expect(try await !passwords.matches(password, damaged))
    }
  }

  @Test func `the cost of a hash is that of three passes over 64 MiB`() async throws {
    let hash = try await Passwords(cost: .standard).hash(Password("secret-1"))
    #expect(hash.hasPrefix("$argon2id$v=19$m=65536,t=3,p=1$"))
  }

  @Test func `two passwords are hashed at a time, sixty-four wait, and more are refused`() async throws {
    let passwords = Passwords(cost: .least)
    let gate = DispatchSemaphore(value: 0)
    let running = Locked(Running())
    @Sendable func work() -> Bool {
      running.withLock { state in
        state.now += 1
        state.most = max(state.most, state.now)
      }
      gate.wait()
      running.withLock { $0.now -= 1 }
      return true
    }
    let codes = await withTaskGroup(of: AccountError.Code?.self) { group in
      for _ in 0..<70 {
        group.addTask { await refusal { try await passwords.run(work) } }
      }
      // The four refused calls end first, because no other call ends before the gate is opened.
      var codes: [AccountError.Code?] = []
      for _ in 0..<4 {
        guard let code = await group.next() else { break }
        codes.append(code)
      }
      for _ in 0..<66 { gate.signal() }
      for await code in group { codes.append(code) }
      return codes
    }
    #expect(codes.prefix(4).allSatisfy { $0 == .serviceUnavailable })
    #expect(codes.count == 70 && codes.dropFirst(4).allSatisfy { $0 == nil })
    #expect(running.withLock { $0.most } == 2)
    // All places are free again.
    gate.signal()
    #expect(try await passwords.run(work))
  }
}
