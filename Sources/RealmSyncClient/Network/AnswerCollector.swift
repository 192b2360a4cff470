#if Sync
  import NIOCore
  import NIOHTTP1

  /// Puts the parts of an answer together.
  package struct AnswerCollector {
    package enum Progress: Sendable {
      case more
      case whole
      /// The body is longer than it may be. What fits is kept.
      case tooLong
    }

    /// Bytes of the body.
    private let limit: Int
    /// As far as it has come; nil before its head.
    package private(set) var answer: NetworkAnswer?

    package init(limit: Int) { self.limit = limit }

    package mutating func add(_ part: HTTPClientResponsePart) -> Progress {
      switch part {
      case .head(let head):
        let headers = head.headers.map { NetworkHeader($0.name, $0.value) }
        answer = NetworkAnswer(status: Int(head.status.code), headers: headers)
        return .more
      case .body(let bytes):
        let free = limit - (answer?.body.count ?? 0)
        let count = min(bytes.readableBytes, free)
        answer?.body += bytes.getBytes(at: bytes.readerIndex, length: count) ?? []
        return bytes.readableBytes > free ? .tooLong : .more
      case .end: return .whole
      }
    }
  }
#endif
