#if Sync
  import NIOCore
  import NIOHTTP1
  import NIOWebSocket

  /// Checks whether an answer opens the WebSocket that was asked for (RFC 6455, section 4.1).
  package struct HandshakeCheck {
    private let subprotocols: [String]
    /// The upgrader makes and checks the key of the handshake. It is not a part of a pipeline.
    private let upgrader: NIOWebSocketClientUpgrader

    /// - Parameters:
    ///   - subprotocols: the subprotocols that are offered.
    ///   - key: the key of the handshake, 16 bytes in base64; nil for a random one.
    package init(subprotocols: [String], key: String? = nil) {
      self.subprotocols = subprotocols
      upgrader = NIOWebSocketClientUpgrader(
        requestKey: key ?? NIOWebSocketClientUpgrader.randomRequestKey(),
        upgradePipelineHandler: { channel, _ in channel.eventLoop.makeSucceededVoidFuture() })
    }

    /// Adds the request headers for the key and the subprotocols.
    func addHeaders(to headers: inout HTTPHeaders) {
      upgrader.addCustom(upgradeRequestHeaders: &headers)
      if !subprotocols.isEmpty {
        headers.add(name: "Sec-WebSocket-Protocol", value: subprotocols.joined(separator: ", "))
      }
    }

    /// The fault in the head of an answer with the status 101, as the end of a sentence about the answer; nil if the
    /// connection is a WebSocket behind the head.
    package func fault(of head: HTTPResponseHead) -> String? {
      let upgrades = head.headers[canonicalForm: "upgrade"].contains { $0.lowercased() == "websocket" }
      let isUpgrade = head.headers[canonicalForm: "connection"].contains { $0.lowercased() == "upgrade" }
      guard upgrades, isUpgrade, upgrader.shouldAllowUpgrade(upgradeResponse: head) else {
        return "is no answer to the handshake of a WebSocket"
      }
      // This side offers no extensions.
      guard !head.headers.contains(name: "sec-websocket-extensions") else {
        return "has an extension that was not offered"
      }
      let chosen = head.headers["sec-websocket-protocol"]
      let isOffered = chosen.count == 1 && subprotocols.contains(chosen[0])
      guard subprotocols.isEmpty ? chosen.isEmpty : isOffered else {
        return "has no subprotocol that was offered"
      }
      return nil
    }

    /// Takes the part that is read next from the front of the received bytes. While the head is being read, a part ends
    /// with a line, so that it never contains both the end of the head and the bytes behind it, where a WebSocket may
    /// begin.
    ///
    /// - Parameter isInHead: true if the head of the answer has not arrived completely.
    package static func nextPart(of bytes: inout ByteBuffer, isInHead: Bool) -> ByteBuffer? {
      let view = bytes.readableBytesView
      guard !view.isEmpty else { return nil }
      let lineEnd = isInHead ? view.firstIndex(of: UInt8(ascii: "\n")) : nil
      return bytes.readSlice(length: lineEnd.map { $0 - view.startIndex + 1 } ?? view.count)
    }
  }
#endif
