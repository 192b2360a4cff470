import NIOHTTP1

/// A refusal of a request, which the front answers itself. The connection is closed after the response.
package struct Refusal: Error, Sendable {
  package let status: Int
  let text: String
  var headers: [(name: String, value: String)] = []

  var response: HTTPResponse {
    var response = HTTPResponse.text(text, status: status)
    response.headers = headers
    return response
  }

  static let malformed = Refusal(status: 400, text: "The request is malformed.")
  static let tooSlow = Refusal(status: 408, text: "The request took too long to come.")
  static let bodyTooLong = Refusal(status: 413, text: "The body of the request is too long.")
  static let urlTooLong = Refusal(status: 414, text: "The URL of the request is too long.")
  static let unknownExpectation = Refusal(status: 417, text: "The server can't do what the request expects.")
  static let otherVersion = Refusal(
    status: 426, text: "The server speaks version 13 of WebSocket.",
    headers: [("sec-websocket-version", "13"), ("upgrade", "websocket")])
  static let headersTooLong = Refusal(status: 431, text: "The headers of the request are too long.")
  static let failed = Refusal(status: 500, text: "The server has failed.")
  static let unknownMethod = Refusal(status: 501, text: "The server does not know the method.")
  static let tooMuch = Refusal(
    status: 503, text: "Too many requests are being sent to the server. Try again later.")
  static let stopping = Refusal(status: 503, text: "The server stops.")
  static let unknownVersion = Refusal(status: 505, text: "The server speaks HTTP/1.1.")

  /// - Parameter isInURL: true if the first line of the request alone is too long.
  init(_ error: HTTPParserError, isInURL: Bool) {
    self =
      switch error {
      case .headerOverflow: isInURL ? .urlTooLong : .headersTooLong
      case .invalidVersion: .unknownVersion
      default: .malformed
      }
  }

  init(status: Int, text: String, headers: [(name: String, value: String)] = []) {
    (self.status, self.text, self.headers) = (status, text, headers)
  }
}
