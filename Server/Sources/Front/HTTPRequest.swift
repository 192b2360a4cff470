/// A request, all of which has come.
public struct HTTPRequest: Sendable {
  /// As the client wrote it, as in `GET`.
  public var method: String
  /// The parts of the path, decoded. That of `/` has none, and that of `/a/` has two, of which the second is
  /// empty.
  public var path: [String]
  /// The names and the values behind `?`, decoded. A name without `=` has an empty value. A request in which
  /// a name comes twice is answered with 400.
  public var query: [String: String]
  public var headers: Headers
  /// At most `FrontLimits.maximumBody` bytes.
  public var body: [UInt8]
  /// The address of the client, as in `192.0.2.7` and `2001:db8::7`. Where the connection comes from a
  /// trusted proxy, it is the one that the proxy names. It is empty where the system does not tell it.
  public var address: String

  public init(
    method: String, path: [String], query: [String: String] = [:], headers: Headers = Headers(),
    body: [UInt8] = [], address: String = ""
  ) {
    (self.method, self.path, self.query) = (method, path, query)
    (self.headers, self.body, self.address) = (headers, body, address)
  }

  /// What one client has for certain of its address: all of it in IPv4, and the first 64 bits in IPv6, where a client has many addresses.
  public var network: String {
    IPAddress(address).map { $0.network.map { String($0, radix: 16) }.joined(separator: ".") } ?? address
  }

  /// The token of the header `Authorization`; nil where there is none, where there are two, and where it is
  /// not of the scheme `Bearer`.
  public var bearer: String? {
    let values = headers.all("authorization")
    guard values.count == 1, let value = values.first else { return nil }
    let words = value.split(separator: " ")
    guard words.count == 2, words[0].lowercased() == "bearer" else { return nil }
    return String(words[1])
  }
}
