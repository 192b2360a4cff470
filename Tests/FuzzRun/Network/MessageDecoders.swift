import RealmFuzzSupport
import RealmSync

/// The decoders of messages of device sync, of all kinds and of some kinds.
enum MessageDecoders {
  static var all: [FuzzedDecoder] {
    [
      server("server-message", MessageReading.expandedMemory) { _ in true },
      server("welcome", MessageReading.plainMemory) { message in
        if case .welcome = message { true } else { false }
      },
      server("answers", MessageReading.plainMemory) { message in
        switch message {
        case .querySetRefused, .chunk, .mark, .retired, .error, .skipped: true
        case .welcome, .step: false
        }
      },
      client("client-message", MessageReading.expandedMemory) { _ in true },
      client("requests", MessageReading.plainMemory) { message in
        if case .upload = message { false } else { true }
      },
    ]
  }

  /// The decoder of messages that a client reads.
  ///
  /// - Parameter isWanted: whether a sample is one of the kinds that are tried.
  private static func server(
    _ name: String, _ memory: MemoryBound, _ isWanted: @escaping (ServerMessage) -> Bool
  ) -> FuzzedDecoder {
    FuzzedDecoder(name) {
      let told = try NetworkCorpus.transcript(of: "server").map { try ServerMessage(bytes: $0) }
      let wanted = (told + MessageReading.serverMessages()).filter(isWanted).map(\.bytes)
      return FuzzedDecoder.Trial(
        samples: try MessageReading.short(wanted) + NetworkCorpus.kept.samples(name),
        mutator: ByteMutator(.binary), memory: memory
      ) { bytes, generator in
        guard let message = try MessageReading.server(bytes, &generator) else { return false }
        try RoundTrip.check(message.bytes) { try ServerMessage(bytes: $0).bytes }
        return true
      }
    }
  }

  /// The decoder of messages that a server reads.
  private static func client(
    _ name: String, _ memory: MemoryBound, _ isWanted: @escaping (ClientMessage) -> Bool
  ) -> FuzzedDecoder {
    FuzzedDecoder(name) {
      let told = try NetworkCorpus.transcript(of: "client").map { try ClientMessage(bytes: $0) }
      let wanted = (told + MessageReading.clientMessages()).filter(isWanted).map(\.bytes)
      return FuzzedDecoder.Trial(
        samples: try MessageReading.short(wanted) + NetworkCorpus.kept.samples(name),
        mutator: ByteMutator(.binary), memory: memory
      ) { bytes, generator in
        guard let message = try MessageReading.client(bytes, &generator) else { return false }
        try RoundTrip.check(message.bytes) { try ClientMessage(bytes: $0).bytes }
        return true
      }
    }
  }
}
