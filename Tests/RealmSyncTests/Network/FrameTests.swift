#if Sync
  import NIOCore
  import RealmWebSocket
  import RealmTestSupport
  import Testing

  /// Frames of WebSockets, as both sides write and read them.
  @Suite struct FrameTests {
    private static let sides: [(writer: SocketRole, reader: SocketRole, own: FrameFailure)] = [
      (.client, .server, .masked), (.server, .client, .unmasked),
    ]

    /// The events that a reader finds in bytes that come in pieces.
    private func events(
      _ bytes: [UInt8], _ role: SocketRole, cutAt places: [Int] = []
    ) -> [FrameReader.Event] {
      var reader = FrameReader(role, maximum: 70_000)
      var events: [FrameReader.Event] = []
      var start = 0
      for end in places + [bytes.count] {
        var piece = ByteBuffer(bytes: bytes[start..<end])
        while let event = reader.next(&piece) { events.append(event) }
        start = end
      }
      return events
    }

    private func bytes(_ frame: ByteBuffer) -> [UInt8] { Array(frame.readableBytesView) }

    @Test(arguments: [0, 1, 125, 126, 65_535, 65_536])
    func `one side reads the frames of the other side, and refuses those of its own role`(count: Int) {
      let payload = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
      for side in Self.sides {
        let frame = bytes(FrameWriter(side.writer).frame(.binary, payload))
        #expect(events(frame, side.reader) == [.message(payload)])
        #expect(events(frame, side.writer) == [.failure(side.own)])
      }
    }

    @Test func `frames are the same, however their bytes are cut`() {
      var random = SeededGenerator(seed: 7)
      for side in Self.sides {
        let writer = FrameWriter(side.writer)
        var sent: [UInt8] = []
        for count in [0, 3, 126, 700] { sent += bytes(writer.frame(.binary, random.bytes(count))) }
        sent += bytes(writer.frame(.ping, random.bytes(9))) + bytes(writer.frame(.pong, []))
        sent += bytes(writer.close(1001, "The server stops."))
        let whole = events(sent, side.reader)
        #expect(whole.count == 7)
        #expect(whole.last == .close(1001, "The server stops."))
        #expect(events(sent, side.reader, cutAt: Array(1..<sent.count)) == whole)
        let places = (0..<5).map { _ in random.below(sent.count + 1) }.sorted()
        #expect(events(sent, side.reader, cutAt: places) == whole)
      }
    }

    @Test func `a reason that is too long for a frame is cut`() {
      let reason = String(repeating: "é", count: 100)
      for side in Self.sides {
        let frame = bytes(FrameWriter(side.writer).close(1000, reason))
        #expect(events(frame, side.reader) == [.close(1000, String(repeating: "é", count: 61))])
        #expect(events(bytes(FrameWriter(side.writer).close(nil)), side.reader) == [.close(nil, "")])
      }
    }

    @Test func `nothing is read after a failure`() {
      let sent: [UInt8] = [0x81, 0x01, 0x61] + bytes(FrameWriter(.server).frame(.binary, [1]))
      #expect(events(sent, .client) == [.failure(.text)])
    }
  }
#endif
