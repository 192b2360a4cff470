import NIOCore
import RealmWebSocket
import Testing

@testable import Front

@Suite struct ReadingTests {
  // MARK: - Frames

  /// The events that a reader finds in bytes that come in parts.
  private func events(_ bytes: [UInt8], cutAt places: [Int], maximum: Int) -> [FrameReader.Event] {
    var reader = FrameReader(.server, maximum: maximum)
    var events: [FrameReader.Event] = []
    var start = 0
    for end in places + [bytes.count] {
      var part = ByteBuffer(bytes: bytes[start..<end])
      while let event = reader.next(&part) { events.append(event) }
      start = end
    }
    return events
  }

  @Test(arguments: 0..<200)
  func framesAreTheSameHoweverTheyAreCut(seed: Int) {
    var numbers = SeededNumbers(seed)
    var bytes: [UInt8] = []
    for _ in 0..<10 {
      let count = [0, 1, 125, 126, 300].randomElement(using: &numbers) ?? 0
      let payload = (0..<count).map { _ in UInt8.random(in: 0...255, using: &numbers) }
      let first: UInt8 = [0x82, 0x02, 0x80, 0x00, 0x89, 0x8a].randomElement(using: &numbers) ?? 0x82
      let key = (0..<4).map { _ in UInt8.random(in: 0...255, using: &numbers) }
      bytes += ClientFrame.bytes(first, first >= 0x88 ? Array(payload.prefix(125)) : payload, key: key)
    }
    if seed % 2 == 1 { bytes[Int.random(in: 0..<bytes.count, using: &numbers)] ^= 0x55 }
    let whole = events(bytes, cutAt: [], maximum: 700)
    #expect(events(bytes, cutAt: Array(1..<bytes.count), maximum: 700) == whole)
    let places = (0..<5).map { _ in Int.random(in: 0...bytes.count, using: &numbers) }.sorted()
    #expect(events(bytes, cutAt: places, maximum: 700) == whole)
  }

  @Test func nothingIsReadBehindAFailure() {
    let bytes = ClientFrame.bytes(0x81, [1]) + ClientFrame.binary([2])
    #expect(events(bytes, cutAt: [], maximum: 10) == [.failure(.text)])
  }

  @Test func theLengthOfAFrameIsWrittenShortly() {
    for (count, head) in [(125, 2), (126, 4), (65535, 4), (65536, 10)] {
      let frame = FrameWriter(.server).frame(.binary, [UInt8](repeating: 1, count: count))
      #expect(frame.readableBytes == head + count)
    }
  }

  // MARK: - Targets

  @Test func targetsAreDividedBeforeTheyAreDecoded() throws {
    let target = try RequestTarget("/a%2Fb/c%3Fd/?x%3D=y%26", isOptions: false)
    #expect(target.path == ["a/b", "c?d", ""])
    #expect(target.query == ["x=": "y&"])
    #expect(target.written == "/a%2Fb/c%3Fd/")
    #expect(try RequestTarget("/", isOptions: false).path.isEmpty)
    #expect(try RequestTarget("/?", isOptions: false).query.isEmpty)
    #expect(try RequestTarget("/?x=1?2=3", isOptions: false).query == ["x": "1?2=3"])
    #expect(try RequestTarget("/a+b?c+d", isOptions: false).path == ["a+b"])
    #expect(try RequestTarget("HTTP://host:80?x", isOptions: false).query == ["x": ""])
    #expect(throws: Refusal.self) { try RequestTarget("*", isOptions: false) }
    #expect(throws: Refusal.self) { try RequestTarget("", isOptions: true) }
  }

  // MARK: - Others

  @Test(arguments: [
    (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
    (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
    (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
    (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
    (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
  ])
  func timesAreWrittenAsHTTPWritesThem(seconds: Int, text: String) {
    #expect(HTTPDate.text(of: seconds) == text)
  }

  @Test func aTokenIsTakenFromOneHeaderOnly() {
    func bearer(_ values: String...) -> String? {
      HTTPRequest(method: "GET", path: [], headers: Headers(values.map { ("Authorization", $0) })).bearer
    }
    #expect(bearer("Bearer a.b") == "a.b")
    #expect(bearer("BEARER  a.b") == "a.b")
    #expect(bearer("Basic a.b") == nil)
    #expect(bearer("Bearer") == nil)
    #expect(bearer("Bearer a b") == nil)
    #expect(bearer("Bearer a", "Bearer b") == nil)
    #expect(bearer() == nil)
  }
}
