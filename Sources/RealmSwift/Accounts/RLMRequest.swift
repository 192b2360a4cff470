public import Foundation
import RealmSyncClient

/// What a request of HTTP asks for.
public enum RLMHTTPMethod: UInt, Sendable {
  /// Asks for what there is.
  case get = 0
  /// Makes something new, or lets the server do something.
  case post = 1
  /// Changes a part.
  case patch = 2
  /// Sets something.
  case put = 3
  /// Deletes something.
  case delete = 4

  /// As it stands in a request.
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

/// A request of HTTP, which a transport is to send.
public final class RLMRequest {
  /// What is asked for.
  public var method = RLMHTTPMethod.get
  /// The whole address.
  public var url = ""
  /// Seconds that the request may take; 0 for any time.
  public var timeout: TimeInterval = 60
  /// Values by the names of headers. One of them has a token.
  public var headers: [String: String] = [:]
  /// A JSON text; empty for none. It may have a password in it.
  public var body = ""
  /// A file with certificates in the form PEM that are trusted beside those of the system.
  var certificate: String?

  /// A request that is to be filled.
  public init() {}
}

@available(*, unavailable)
extension RLMRequest: Sendable {}

/// The answer to a request of HTTP.
public final class RLMResponse {
  /// The status that the server has answered.
  public var httpStatusCode = 0
  /// 0 where the server has answered. Any other number says that no answer was had; the body is then a text that says why.
  public var customStatusCode = 0
  /// Values by the names of headers.
  public var headers: [String: String] = [:]
  /// What was answered.
  public var body = ""
  /// Why no answer was had, where the library's own transport tells it.
  var problem: NetworkProblem?

  /// An answer that is to be filled.
  public init() {}
}

@available(*, unavailable)
extension RLMResponse: Sendable {}
