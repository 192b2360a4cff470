/// A request that has come completely.
public struct HTTPRequest: Sendable {
  /// The method as the client wrote it, as in `GET`.
  public var method: String
  /// The parts of the path, decoded. The path `/` has no parts, and the path `/a/` has two, of which the second is
  /// empty.
  public var path: [String]
  /// The names and the values behind `?`, decoded. A name without `=` has an empty value. A request in which
  /// a name comes twice is answered with 400.
  public var query: [String: String]
  public var headers: Headers
  /// The body. It has at most `FrontLimits.maximumBody` bytes.
  public var body: [UInt8]
  /// The address of the client, as in `192.0.2.7` and `2001:db8::7`. If the connection comes from a trusted proxy, it
  /// is the address that the proxy names. It is empty if the system does not tell it.
  public var address: String

  public init(
    method: String, path: [String], query: [String: String] = [:], headers: Headers = Headers(),
    body: [UInt8] = [], address: String = ""
  ) {
    (self.method, self.path, self.query) = (method, path, query)
    (self.headers, self.body, self.address) = (headers, body, address)
  }

  /// The part of the client's address that it can't choose: the whole address in IPv4, and the first 64 bits in IPv6,
  /// where a client has many addresses. It is `address` itself if that is not an IP address.
  public var network: String {
    IPAddress(address).map { $0.network.map { String($0, radix: 16) }.joined(separator: ".") } ?? address
  }

  /// The token of the header `Authorization`; nil if there is no such header, if there are two, and if its scheme is
  /// not `Bearer`.
  public var bearer: String? {
    let values = headers.all("authorization")
    guard values.count == 1, let value = values.first else { return nil }
    let words = value.split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "bearer" else { return nil }
    return String(words[1])
  }
}
