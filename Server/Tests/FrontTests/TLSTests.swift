import Foundation
import Front
import NIOSSL
import Testing

@Suite(.timeLimit(.minutes(2))) struct TLSTests {
  /// Runs a front with the first certificate.
  private func withTLS(_ body: (Front, TLSFiles) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("front-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = TLSFiles(
      certificates: folder.appendingPathComponent("certificate.pem").path,
      key: folder.appendingPathComponent("key.pem").path)
    try TestCertificate.first.write(to: files)
    try await withFront(settings: { $0.tls = files }) { front in try await body(front, files) }
  }

  private func isTrusted(_ front: Front, _ context: NIOSSLContext) async throws -> Bool {
    let client = try await RawClient.connect(to: front.port, tls: context)
    do {
      return try await client.ask("GET /status/200").status == 200
    } catch is ConnectionEnded {
      return false
    }
  }

  @Test func requestsAndMessagesComeThroughTLS() async throws {
    try await withTLS { front, _ in
      let client = try await RawClient.connect(to: front.port, tls: TestCertificate.first.client())
      #expect(try await client.ask("POST /echo", body: "words").text == "words")
      #expect(try await client.upgrade().status == 101)
      let message = [UInt8](repeating: 5, count: 1 << 20)
      client.send(ClientFrame.binary(message))
      #expect(try await client.frame().payload == message)
      client.send(ClientFrame.close(1000))
      #expect(try await client.frame().code == 1000)
      #expect(await client.inbox.end().isEmpty)
    }
  }

  @Test func refusalsReachTheClientThroughTLS() async throws {
    try await withTLS { front, _ in
      let client = try await RawClient.connect(to: front.port, tls: TestCertificate.first.client())
      client.send("GARBAGE\r\n\r\n")
      #expect(try await client.reply().status == 400)
      #expect(await client.inbox.end().isEmpty)
    }
  }

  @Test func oldVersionsAreRefused() async throws {
    try await withTLS { front, _ in
      let newer = try TestCertificate.first.client(upTo: .tlsv12)
      #expect(try await isTrusted(front, newer))
      let older = try TestCertificate.first.client(upTo: .tlsv11)
      #expect(try await isTrusted(front, older) == false)
    }
  }

  @Test func plainBytesDoNoHarm() async throws {
    try await withTLS { front, _ in
      let client = try await RawClient.connect(to: front.port)
      client.send(RawClient.request("GET /status/200"))
      _ = await client.inbox.end()
      let context = try TestCertificate.first.client()
      #expect(try await isTrusted(front, context))
    }
  }

  @Test func aCertificateIsReadAgain() async throws {
    try await withTLS { front, files in
      let (first, second) = (try TestCertificate.first.client(), try TestCertificate.second.client())
      let older = try await RawClient.connect(to: front.port, tls: first)
      #expect(try await older.ask("GET /status/200").status == 200)
      #expect(try await isTrusted(front, second) == false)
      try TestCertificate.second.write(to: files)
      try front.reloadCertificate()
      #expect(try await isTrusted(front, second))
      #expect(try await isTrusted(front, first) == false)
      #expect(try await older.ask("GET /status/200").status == 200)
      try Data("nothing".utf8).write(to: URL(fileURLWithPath: files.key))
      #expect(throws: FrontError.self) { try front.reloadCertificate() }
      #expect(try await isTrusted(front, second))
    }
  }

  @Test func aFrontDoesNotStartWithoutItsFiles() async throws {
    let settings = FrontSettings(tls: TLSFiles(certificates: "/nowhere/a.pem", key: "/nowhere/b.pem"))
    try await withFront { plain in
      #expect(throws: Never.self) { try plain.reloadCertificate() }
    }
    await #expect(throws: FrontError.self) {
      try await withFront(settings: { $0 = settings }) { _ in }
    }
  }
}
