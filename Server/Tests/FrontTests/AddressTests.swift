import Foundation
import Testing

@testable import Front

@Suite struct AddressTests {
  @Test(arguments: [
    ("127.0.0.1", "127.0.0.1"),
    ("::1", "::1"),
    ("::", "::"),
    ("1::", "1::"),
    ("2001:DB8:0:0:8:800:200C:417A", "2001:db8::8:800:200c:417a"),
    ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
    ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
    ("::ffff:192.0.2.1", "192.0.2.1"),
    ("::ffff:c000:201", "192.0.2.1"),
    ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"),
  ])
  func addressesAreReadAndWritten(text: String, written: String) {
    #expect(IPAddress(text)?.description == written)
    #expect(IPAddress(written) == IPAddress(text))
  }

  @Test(arguments: [
    "", "1", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.04", "1.2.3.+4", "1.2.3.", ":", ":::", "1:2:3",
    "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::1::", "12345::", "+1::", "g::", "::1.2.3", "1.2.3.4::",
    "fe80::1%eth0",
    "1:2:3:4:5:6:7:", ":1:2:3:4:5:6:7",
  ])
  func otherTextsAreNoAddresses(text: String) {
    #expect(IPAddress(text) == nil)
  }

  private func client(_ peer: String, _ forwarded: [String], trusted: [String]) throws -> String? {
    try TrustedProxies(trusted).client(peer: IPAddress(peer), forwarded: forwarded)?.description
  }

  @Test func onlyTrustedProxiesTellAddresses() throws {
    let trusted = ["10.0.0.0/8", "fd00::/16", "192.0.2.1"]
    #expect(try client("198.51.100.1", ["203.0.113.9"], trusted: trusted) == "198.51.100.1")
    #expect(try client("10.1.2.3", [], trusted: trusted) == "10.1.2.3")
    #expect(try client("10.1.2.3", ["203.0.113.9"], trusted: trusted) == "203.0.113.9")
    #expect(try client("::ffff:10.1.2.3", ["203.0.113.9"], trusted: trusted) == "203.0.113.9")
    #expect(try client("fd00::7", ["2001:db8::1"], trusted: trusted) == "2001:db8::1")
    #expect(try client("fd01::7", ["2001:db8::1"], trusted: trusted) == "fd01::7")
    #expect(try client("192.0.2.1", ["203.0.113.9"], trusted: trusted) == "203.0.113.9")
    #expect(try client("192.0.2.2", ["203.0.113.9"], trusted: trusted) == "192.0.2.2")
  }

  @Test func whatAClientMakesUpIsNotBelieved() throws {
    let trusted = ["10.0.0.0/8"]
    #expect(try client("10.0.0.1", ["1.1.1.1, 203.0.113.9"], trusted: trusted) == "203.0.113.9")
    #expect(try client("10.0.0.1", ["1.1.1.1", "203.0.113.9, 10.0.0.2"], trusted: trusted) == "203.0.113.9")
    #expect(try client("10.0.0.1", ["203.0.113.9, rubbish"], trusted: trusted) == "10.0.0.1")
    #expect(try client("10.0.0.1", ["203.0.113.9, rubbish, 10.0.0.2"], trusted: trusted) == "10.0.0.2")
    #expect(try client("10.0.0.1", ["203.0.113.9:4711"], trusted: trusted) == "203.0.113.9")
    #expect(try client("10.0.0.1", ["[2001:db8::1]:4711"], trusted: trusted) == "2001:db8::1")
    #expect(try client("10.0.0.1", ["10.0.0.3"], trusted: trusted) == "10.0.0.3")
  }

  @Test(arguments: ["10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "host", "::/129", ""])
  func wrongProxiesAreTold(text: String) {
    #expect(throws: FrontError.badProxy(text)) { try TrustedProxies([text]) }
  }

  @Test func theServiceIsToldTheAddressThatAProxyTells() async throws {
    let cases: [(trusted: [String], address: String)] = [(["127.0.0.1"], "203.0.113.9"), ([], "127.0.0.1")]
    for (trusted, address) in cases {
      try await withFront(settings: { $0.trustedProxies = trusted }) { front in
        let client = try await RawClient.connect(to: front.port)
        let reply = try await client.ask("GET /about", headers: ["X-Forwarded-For: 1.1.1.1, 203.0.113.9"])
        let about = try JSONDecoder().decode(EchoHTTP.About.self, from: Data(reply.body))
        #expect(about.address == address)
      }
    }
  }
}
