public import Foundation
import RealmSyncClient

/// The method of an HTTP request.
public enum RLMHTTPMethod: UInt, Sendable {
  /// Reads something.
  case get = 0
  /// Makes something new, or starts an action on the server.
  case post = 1
  /// Changes a part of something.
  case patch = 2
  /// Sets something.
  case put = 3
  /// Deletes something.
  case delete = 4

  /// The name of the method in HTTP.
  var text: String {
    switch self {
    case .get: "GET"
    case .post: "POST"
    case .patch: "PATCH"
    case .put: "PUT"
    case .delete: "DELETE"
    }
  }
}

/// An HTTP request that a transport sends.
public final class RLMRequest {
  /// The method of the request. The default is `.get`.
  public var method = RLMHTTPMethod.get
  /// The complete URL.
  public var url = ""
  /// The longest time that the request may take, in seconds; 0 for no limit. The default is 60.
  public var timeout: TimeInterval = 60
  /// The values of the headers by their names. One of them may have an access token.
  public var headers: [String: String] = [:]
  /// The body as a JSON text; empty if there is none. It may have a password in it.
  public var body = ""
  /// The path of a file with certificates in the format PEM, which are trusted beside those of the system.
  var certificate: String?

  /// Makes a request with the default values.
  public init() {}
}

@available(*, unavailable)
extension RLMRequest: Sendable {}

/// The answer to an HTTP request.
public final class RLMResponse {
  /// The HTTP status of the answer.
  public var httpStatusCode = 0
  /// 0 if the server has answered. Any other number says that there was no answer; `body` is then a text that says why.
  public var customStatusCode = 0
  /// The values of the headers by their names.
  public var headers: [String: String] = [:]
  /// The body of the answer.
  public var body = ""
  /// The network's failure that left the request without an answer, if the library's own transport reports it.
  var problem: NetworkProblem?

  /// Makes an answer with empty values.
  public init() {}
}

@available(*, unavailable)
extension RLMResponse: Sendable {}
