import Front
import RealmFuzzSupport
import NIOCore
import NIOHTTP1

/// The decoders for requests that SwiftNIO has read, and for their parts.
enum RequestDecoders {
  static var all: [FuzzedDecoder] { [head, target, address] }

  private static let words = [
    "GET ", "POST ", "OPTIONS ", "CONNECT ", "HTTP/1.1\r\n", "HTTP/1.0\r\n", "\r\n", ", ", ":", "/", "//",
    "?", "&", "=", "%", "%00", "%2F", "%c3%a9", "%C3", "+", "#", "*", "http://host", "HTTPS://host?x",
    "Host: localhost\r\n", "Content-Length: 3\r\n", "Content-Length: 0\r\n", "Transfer-Encoding: chunked\r\n",
    "Expect: 100-continue\r\n", "Authorization: Bearer a.b.c\r\n", "Authorization: Basic x\r\n",
    "Upgrade: websocket\r\n", "Connection: Upgrade\r\n", "Sec-WebSocket-Version: 13\r\n",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
    "Sec-WebSocket-Protocol: realm-sync.1, realm-token.a\r\n",
    "X-Forwarded-For: 192.0.2.7\r\n",
  ]

  private static let limits: FrontLimits = {
    var limits = FrontLimits()
    (limits.maximumBody, limits.maximumURL) = (256, 512)
    return limits
  }()

  // MARK: - Requests

  private static var head: FuzzedDecoder {
    FuzzedDecoder("request-head") {
      FuzzedDecoder.Trial(
        samples: try NetworkFuzz.kept.samples("request-head"), mutator: ByteMutator(.text(words: words)),
        memory: MemoryBound(perByte: 2000)
      ) { bytes, generator in
        guard let text = HTTPText(bytes) else { return false }
        let head = requestHead(text)
        guard let whole = try request(head, [text.body]) else { return false }
        var (pieces, start) = ([[UInt8]](), 0)
        for end in generator.cuts(of: text.body.count) + [text.body.count] {
          pieces.append(Array(text.body[start..<end]))
          start = end
        }
        guard let cut = try request(head, pieces), cut.body == whole.body else {
          throw FuzzFailure("a request is another one where its body comes in pieces")
        }
        try check(whole, text)
        return true
      }
    }
  }

  private static func requestHead(_ text: HTTPText) -> HTTPRequestHead {
    var headers = HTTPHeaders()
    for header in text.headers { headers.add(name: header.name, value: header.value) }
    let isOld = text.first[2] == "HTTP/1.0"
    return HTTPRequestHead(
      version: isOld ? .http1_0 : .http1_1, method: HTTPMethod(rawValue: text.first[0]), uri: text.first[1],
      headers: headers)
  }

  /// The request; nil if it is refused.
  private static func request(_ head: HTTPRequestHead, _ pieces: [[UInt8]]) throws -> HTTPRequest? {
    do throws(Refusal) {
      let incoming = try IncomingRequest(head, limits)
      for piece in pieces { try incoming.add(ByteBuffer(bytes: piece)) }
      return incoming.request(address: "2001:db8::7")
    } catch {
      guard (400...505).contains(error.status) else {
        throw FuzzFailure("a request is refused with the status \(error.status)")
      }
      return nil
    }
  }

  private static func check(_ request: HTTPRequest, _ text: HTTPText) throws {
    guard request.body == text.body, request.body.count <= limits.maximumBody else {
      throw FuzzFailure("the body of a request is not what has come")
    }
    for header in text.headers where request.headers[header.name] == nil {
      throw FuzzFailure("a header of a request is not found")
    }
    let texts = request.path + request.query.map(\.key) + request.query.map(\.value)
    guard texts.allSatisfy({ !$0.utf8.contains(0) }) else {
      throw FuzzFailure("a part of a request has a zero byte")
    }
    guard request.bearer.map({ !$0.isEmpty && !$0.contains(" ") }) ?? true else {
      throw FuzzFailure("a token has a space, or nothing")
    }
    guard request.network.utf8.count <= 64 else { throw FuzzFailure("a network has a long name") }
  }

  // MARK: - Targets

  private static var target: FuzzedDecoder {
    FuzzedDecoder("request-target") {
      FuzzedDecoder.Trial(
        samples: try NetworkFuzz.kept.samples("request-target"), mutator: ByteMutator(.text(words: words)),
        memory: MemoryBound(perByte: 2000)
      ) { bytes, generator in
        let target: RequestTarget
        do throws(Refusal) {
          target = try RequestTarget(String(decoding: bytes, as: UTF8.self), isOptions: generator.chance(20))
        } catch {
          guard error.status == 400 else { throw FuzzFailure("a target is refused with \(error.status)") }
          return false
        }
        try checkAgain(target)
        return true
      }
    }
  }

  private static func checkAgain(_ target: RequestTarget) throws {
    let path = "/" + target.path.map(encoded).joined(separator: "/")
    let query = target.query.map { "\(encoded($0.key))=\(encoded($0.value))" }.joined(separator: "&")
    let text = query.isEmpty ? path : "\(path)?\(query)"
    let again: RequestTarget
    do throws(Refusal) {
      again = try RequestTarget(text, isOptions: false)
    } catch {
      throw FuzzFailure("a target that was accepted is refused when it is written again")
    }
    guard again.path == target.path, again.query == target.query else {
      throw FuzzFailure("a target is read as another one when it is written again")
    }
  }

  private static let digits = Array("0123456789ABCDEF".utf8)

  /// The text with each byte as a percent sign and two digits.
  private static func encoded(_ text: String) -> String {
    String(
      decoding: text.utf8.flatMap { [0x25, digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  // MARK: - Addresses

  private static let addressWords = [
    ":", "::", ".", ",", " ", "[", "]", "/", "ffff", "0", "00", "255", "256", "::ffff:", "10.0.0.1",
    "fd00::1", ":8080", "g",
  ]

  /// The address of a client in the headers that proxies send.
  private static var address: FuzzedDecoder {
    FuzzedDecoder("address") {
      let proxies = try TrustedProxies(["10.0.0.0/8", "fd00::/8", "192.0.2.1"])
      let peer = IPAddress("10.1.2.3")
      return FuzzedDecoder.Trial(
        samples: try NetworkFuzz.kept.samples("address"), mutator: ByteMutator(.text(words: addressWords)),
        memory: MemoryBound(perByte: 4000)
      ) { bytes, generator in
        let text = String(decoding: bytes, as: UTF8.self)
        let client = proxies.client(peer: peer, forwarded: [text, "10.0.0.9"])
        guard let client else { throw FuzzFailure("a request comes from no address") }
        try checkAgain(client)
        guard let address = IPAddress(text) else { return false }
        try checkAgain(address)
        return true
      }
    }
  }

  private static func checkAgain(_ address: IPAddress) throws {
    guard IPAddress(address.description) == address else {
      throw FuzzFailure("an address is read as another one when it is written again")
    }
  }
}
