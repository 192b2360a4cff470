#if Sync
  import NIOCore
  import NIOHTTP1

  /// Joins the parts of an answer.
  package struct AnswerCollector {
    package enum Progress: Sendable {
      case more
      case whole
      /// The body is longer than the limit. The part within the limit is kept.
      case tooLong
    }

    /// The greatest number of bytes of the body.
    private let limit: Int
    /// The received part of the answer; nil before its head.
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
