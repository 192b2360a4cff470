import Foundation
import Testing

@testable import Accounts

@Suite struct MessengerTests {
  private let message = Message(
    kind: .reset, app: "app-1", email: "ann@example.com", userID: "0123456789abcdef01234567",
    token: "the/token", tokenID: "76543210fedcba9876543210")

  @Test func `a message is a JSON object`() throws {
    let text = String(decoding: try message.json(), as: UTF8.self)
    #expect(
      text == #"{"app":"app-1","email":"ann@example.com","kind":"reset","token":"the/token","#
        + #""tokenId":"76543210fedcba9876543210","userId":"0123456789abcdef01234567"}"#)
  }

  @Test func `a command gets the message as its input`() async throws {
    let world = try World()
    // The folder is removed with the world.
    defer { withExtendedLifetime(world) {} }
    let file = world.folder.appendingPathComponent("message")
    let messenger = try CommandMessenger(command: ["/bin/sh", "-c", "cat > \"$0\"", file.path])
    try await messenger.deliver(message)
    #expect(try Data(contentsOf: file) == message.json())
  }

  @Test func `a command may ignore its input, and its exit status decides whether it failed`() async throws {
    for script in ["exit 3", "kill -9 $$"] {
      let messenger = try CommandMessenger(command: ["/bin/sh", "-c", script])
      #expect(await refusal { try await messenger.deliver(message) } == .serviceUnavailable)
    }
    let missing = try CommandMessenger(command: ["/nowhere/at/all"])
    #expect(await refusal { try await missing.deliver(message) } == .serviceUnavailable)
    let deaf = try CommandMessenger(command: ["/bin/sh", "-c", "exec 0<&-; exit 0"])
    for _ in 0..<5 { try await deaf.deliver(message) }
    for command in [[], ["sh"], [""], ["/bin/sh", "a\u{0}b"]] {
      #expect(await refusal { try CommandMessenger(command: command) } == .invalidParameter)
    }
  }

  @Test func `a command that does not end in time is killed, even if it ignores signals`() async throws {
    for script in ["exec sleep 60", "trap '' TERM; while true; do sleep 1; done"] {
      let messenger = try CommandMessenger(
        command: ["/bin/sh", "-c", script], timeLimit: .milliseconds(200))
      let time = await ContinuousClock().measure {
        #expect(await refusal { try await messenger.deliver(message) } == .serviceUnavailable)
      }
      #expect(time < .seconds(30))
    }
  }

  @Test func `an address gets the message as the body of a request`() async throws {
    let posted = Locked<[Data]>([])
    let url = try #require(URL(string: "https://example.com/messages"))
    let messenger = AddressMessenger(url: url) { to, body in
      #expect(to == url)
      return posted.withLock { posted in
        posted.append(body)
        return posted.count == 1 ? 204 : 500
      }
    }
    try await messenger.deliver(message)
    let expected = [try message.json()]
    #expect(posted.withLock { $0 } == expected)
    #expect(await refusal { try await messenger.deliver(message) } == .serviceUnavailable)
  }

  @Test func `a limited number of messages is sent at a time`() async throws {
    let deliveries = Deliveries()
    for _ in 0..<Deliveries.most { try deliveries.begin() }
    #expect(await refusal { try deliveries.begin() } == .serviceUnavailable)
    deliveries.end()
    #expect(await refusal { try deliveries.begin() } == nil)
    for _ in 0..<Deliveries.most { deliveries.end() }
    await deliveries.settle()
  }
}
