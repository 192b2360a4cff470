import Foundation

/// The response to a request.
public struct HTTPResponse: Sendable {
  /// The status, from 200 to 599. The front sends 500 in place of any other.
  public var status: Int
  /// The header `Content-Type`; nil for none.
  public var contentType: String?
  public var body: [UInt8]
  /// More headers. Headers that the front sets are left out: `Connection`, `Content-Length`, `Content-Type`, `Date` and
  /// `Transfer-Encoding`. So are headers whose names or values HTTP does not allow.
  public var headers: [(name: String, value: String)]

  public init(
    status: Int, contentType: String? = nil, body: [UInt8] = [], headers: [(name: String, value: String)] = []
  ) {
    (self.status, self.contentType, self.body, self.headers) = (status, contentType, body, headers)
  }

  /// A response with a value as JSON. The keys are sorted.
  ///
  /// A value that can't be encoded, such as one with an infinite number, gives an empty response with the status 500.
  public static func json(_ value: some Encodable, status: Int = 200) -> HTTPResponse {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { return HTTPResponse(status: 500) }
    return json(bytes: Array(data), status: status)
  }

  /// A response with JSON that is encoded already.
  public static func json(bytes: [UInt8], status: Int = 200) -> HTTPResponse {
    HTTPResponse(status: status, contentType: "application/json", body: bytes)
  }

  /// A response with a text for people.
  public static func text(_ text: String, status: Int = 200) -> HTTPResponse {
    HTTPResponse(status: status, contentType: "text/plain; charset=utf-8", body: Array(text.utf8))
  }
}
