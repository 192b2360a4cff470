#if Sync
  import RealmFuzzSupport
  import NIOCore
  import RealmWebSocket

  /// The decoder of WebSocket frames, for both sides. Its events must not depend on the pieces in which the bytes come.
  enum FrameDecoders {
    static var all: [FuzzedDecoder] {
      [decoder("frames-client", .client), decoder("frames-server", .server)]
    }

    /// The greatest number of bytes of a message.
    private static let maximum = 1024

    private static func decoder(_ name: String, _ role: SocketRole) -> FuzzedDecoder {
      FuzzedDecoder(name) {
        FuzzedDecoder.Trial(
          samples: try samples(role) + NetworkCorpus.kept.samples(name), mutator: ByteMutator(.binary),
          memory: MemoryBound(perByte: 2000)
        ) { bytes, generator in
          let whole = events(bytes, role, cutAt: [])
          let places = generator.cuts(of: bytes.count)
          guard events(bytes, role, cutAt: places) == whole else {
            throw FuzzFailure("other events come where the bytes are cut at \(places)")
          }
          try checkSizes(whole, bytes.count)
          for event in whole { try checkAgain(event, role) }
          if case .failure? = whole.last { return false }
          return !whole.isEmpty
        }
      }
    }

    private static func events(
      _ bytes: [UInt8], _ role: SocketRole, cutAt places: [Int]
    ) -> [FrameReader.Event] {
      var reader = FrameReader(role, maximum: maximum)
      var events: [FrameReader.Event] = []
      var start = 0
      for end in places + [bytes.count] {
        var piece = ByteBuffer(bytes: bytes[start..<end])
        while let event = reader.next(&piece) { events.append(event) }
        start = end
      }
      return events
    }

    /// Checks that the events do not have more bytes than have come.
    private static func checkSizes(_ events: [FrameReader.Event], _ count: Int) throws {
      var told = 0
      for event in events {
        switch event {
        case .message(let message):
          guard message.count <= maximum else { throw FuzzFailure("a message is longer than it may be") }
          told += message.count + 2
        case .ping(let payload): told += payload.count + 2
        case .pong: told += 2
        case .close(_, let reason): told += reason.utf8.count + 2
        case .failure: told += 1
        }
      }
      guard told <= count else { throw FuzzFailure("events tell \(told) bytes of \(count)") }
    }

    /// Checks that the writer of the other side could have written the event that was read.
    private static func checkAgain(_ event: FrameReader.Event, _ role: SocketRole) throws {
      let writer = FrameWriter(role == .client ? .server : .client)
      var frame: ByteBuffer
      switch event {
      case .message(let message): frame = writer.frame(.binary, message)
      case .ping(let payload): frame = writer.frame(.ping, payload)
      case .close(let code, let reason): frame = writer.close(code, reason)
      case .pong, .failure: return
      }
      var reader = FrameReader(role, maximum: maximum)
      guard reader.next(&frame) == event, frame.readableBytes == 0 else {
        throw FuzzFailure("what was read is read as something else when it is written again")
      }
    }

    // MARK: - Samples

    private static func samples(_ role: SocketRole) -> [[UInt8]] {
      var generator = FuzzGenerator(seed: 11)
      let firsts: [UInt8] = [0x82, 0x02, 0x00, 0x80, 0x89, 0x8a, 0x88]
      var samples = messages(role, &generator)
      for _ in 0..<100 {
        var bytes: [UInt8] = []
        for _ in 0...generator.below(6) {
          let first = generator.pick(firsts)
          bytes += frame(first, role, &generator)
        }
        samples.append(bytes)
      }
      return samples
    }

    /// Messages with each length of a frame's head, in one fragment and in several.
    private static func messages(_ role: SocketRole, _ generator: inout FuzzGenerator) -> [[UInt8]] {
      var samples: [[UInt8]] = []
      for count in [0, 1, 125, 126, 1000] {
        let payload = generator.bytes(count)
        samples.append(frame(0x82, role, payload: payload, &generator))
        var fragments: [UInt8] = []
        for first in [0x02, 0x00, 0x89, 0x80] as [UInt8] {
          let part = first == 0x89 ? [] : Array(payload.prefix(300))
          fragments += frame(first, role, payload: part, &generator)
        }
        samples.append(fragments)
      }
      return samples
    }

    private static func frame(
      _ first: UInt8, _ role: SocketRole, _ generator: inout FuzzGenerator
    ) -> [UInt8] {
      switch first {
      case 0x88:
        let code = UInt16(1000 + generator.below(16))
        let payload = [UInt8(code >> 8), UInt8(code & 0xff)] + Array("The end.".utf8)
        return frame(first, role, payload: payload, &generator)
      case 0x89, 0x8a:
        let payload = generator.bytes(generator.below(126))
        return frame(first, role, payload: payload, &generator)
      default:
        let payload = generator.bytes(generator.pick([0, 1, 5, 125, 126, 300, maximum]))
        return frame(first, role, payload: payload, &generator)
      }
    }

    /// A frame as the other side sends it to the reader.
    private static func frame(
      _ first: UInt8, _ role: SocketRole, payload: [UInt8], _ generator: inout FuzzGenerator
    ) -> [UInt8] {
      let (mask, count): (UInt8, Int) = (role == .server ? 0x80 : 0, payload.count)
      var bytes = [first]
      if count <= 125 {
        bytes.append(mask | UInt8(count))
      } else {
        bytes += [mask | 126, UInt8(count >> 8), UInt8(count & 0xff)]
      }
      guard mask != 0 else { return bytes + payload }
      let key = generator.bytes(4)
      for (place, byte) in payload.enumerated() { bytes.append(byte ^ key[place & 3]) }
      bytes.insert(contentsOf: key, at: bytes.count - count)
      return bytes
    }
  }
#endif
