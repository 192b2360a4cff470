#if Sync
  import RealmFuzzSupport
  import NIOCore
  import NIOHTTP1
  import RealmSyncClient

  /// The client's decoders of HTTP answers. HTTP itself is read by SwiftNIO.
  enum AnswerDecoders {
    static var all: [FuzzedDecoder] { [handshake, answer, lines] }

    private static let words = [
      "HTTP/1.1 101 Switching Protocols\r\n", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 401 No\r\n", "\r\n", ", ", ":",
      "Upgrade: websocket\r\n", "Connection: Upgrade\r\n", "Connection: keep-alive, upgrade\r\n",
      "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n", "Sec-WebSocket-Protocol: one\r\n",
      "Sec-WebSocket-Extensions: permessage-deflate\r\n", "Content-Length: 3\r\n",
    ]

    /// The example key in RFC 6455.
    private static let key = "dGhlIHNhbXBsZSBub25jZQ=="
    private static let accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

    private static func head(_ text: HTTPText) -> HTTPResponseHead? {
      guard let code = Int(text.first[1]), (100...999).contains(code) else { return nil }
      var headers = HTTPHeaders()
      for header in text.headers { headers.add(name: header.name, value: header.value) }
      let status = HTTPResponseStatus(statusCode: code)
      return HTTPResponseHead(version: .http1_1, status: status, headers: headers)
    }

    // MARK: - Handshakes

    private static var handshake: FuzzedDecoder {
      FuzzedDecoder("handshake-answer") {
        let offered = ["one", "two"]
        let checks = [
          HandshakeCheck(subprotocols: offered, key: key), HandshakeCheck(subprotocols: [], key: key),
        ]
        return FuzzedDecoder.Trial(
          samples: try NetworkCorpus.kept.samples("handshake-answer"),
          mutator: ByteMutator(.text(words: words)), memory: MemoryBound(perByte: 500)
        ) { bytes, _ in
          guard let text = HTTPText(bytes), let head = head(text), head.status.code == 101 else {
            return false
          }
          let chosen = head.headers["sec-websocket-protocol"]
          var isAccepted = false
          for (check, isOffering) in zip(checks, [true, false]) where check.fault(of: head) == nil {
            isAccepted = true
            guard head.headers["sec-websocket-accept"] == [accept] else {
              throw FuzzFailure("a handshake with another key is accepted")
            }
            guard isOffering ? chosen.count == 1 && offered.contains(chosen[0]) : chosen.isEmpty else {
              throw FuzzFailure("a subprotocol is accepted that was not offered")
            }
          }
          return isAccepted
        }
      }
    }

    /// Takes bytes line by line up to the end of a head. No byte may be lost.
    private static var lines: FuzzedDecoder {
      FuzzedDecoder("answer-lines") {
        let kept = try NetworkCorpus.kept.samples("answer-lines")
        return FuzzedDecoder.Trial(
          samples: try kept + NetworkCorpus.kept.samples("handshake-answer"),
          mutator: ByteMutator(.text(words: words)), memory: MemoryBound(perByte: 500)
        ) { bytes, generator in
          var (rest, taken) = (ByteBuffer(bytes: bytes), [UInt8]())
          let linesInHead = generator.below(6)
          var parts = 0
          while let part = HandshakeCheck.nextPart(of: &rest, isInHead: parts < linesInHead) {
            let part = Array(part.readableBytesView)
            guard !part.isEmpty, parts >= linesInHead || !part.dropLast().contains(10) else {
              throw FuzzFailure("a part of a head has more than a line, or nothing")
            }
            taken += part
            parts += 1
          }
          guard taken == bytes, parts <= linesInHead + 1 else {
            throw FuzzFailure("the parts of an answer are not the answer")
          }
          return parts > 1
        }
      }
    }

    // MARK: - Requests

    /// The greatest number of bytes of a body.
    private static let limit = 100

    private static var answer: FuzzedDecoder {
      FuzzedDecoder("http-answer") {
        FuzzedDecoder.Trial(
          samples: try NetworkCorpus.kept.samples("http-answer"), mutator: ByteMutator(.text(words: words)),
          memory: MemoryBound(perByte: 500)
        ) { bytes, generator in
          guard let text = HTTPText(bytes), let head = head(text) else { return false }
          let whole = collected(head, [text.body])
          var (pieces, start) = ([[UInt8]](), 0)
          for end in generator.cuts(of: text.body.count) + [text.body.count] {
            pieces.append(Array(text.body[start..<end]))
            start = end
          }
          let cut = collected(head, pieces)
          guard whole.answer == cut.answer, whole.isWhole == cut.isWhole else {
            throw FuzzFailure("an answer is another one where its body comes in pieces")
          }
          guard let answer = whole.answer, answer.status == Int(head.status.code),
            answer.headers.count == text.headers.count, answer.body == Array(text.body.prefix(limit)),
            whole.isWhole == (text.body.count <= limit)
          else { throw FuzzFailure("an answer is not what has come") }
          return whole.isWhole
        }
      }
    }

    private static func collected(
      _ head: HTTPResponseHead, _ pieces: [[UInt8]]
    ) -> (answer: NetworkAnswer?, isWhole: Bool) {
      var collector = AnswerCollector(limit: limit)
      _ = collector.add(.head(head))
      for piece in pieces {
        if case .tooLong = collector.add(.body(ByteBuffer(bytes: piece))) { return (collector.answer, false) }
      }
      _ = collector.add(.end(nil))
      return (collector.answer, true)
    }
  }
#endif
