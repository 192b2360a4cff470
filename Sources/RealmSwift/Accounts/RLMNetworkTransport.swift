import Foundation
import RealmSyncClient

/// Is called once with the answer to a request, on any thread.
public typealias RLMNetworkTransportCompletionBlock = @Sendable (_ response: RLMResponse) -> Void

/// What sends the requests of an `App`: log-in, tokens, API keys. It is used by any thread, and by several at a time.
public protocol RLMNetworkTransportProtocol: AnyObject, Sendable {
  /// Sends a request.
  ///
  /// Redirections are answered as they are, and not followed: the request may have a token that another host is not to see.
  ///
  /// - Parameters:
  ///   - request: what to send. Its headers may have a token and its body a password, so that neither belongs into a log.
  ///   - completion: is to be called once.
  func sendRequest(
    toServer request: RLMRequest, completion: @escaping RLMNetworkTransportCompletionBlock)
}

/// Sends the requests of an `App` over the network. Inherit from it to look at requests or to answer them otherwise, as tests do, and set
/// the new transport as `AppConfiguration.transport`.
open class RLMNetworkTransport: RLMNetworkTransportProtocol, @unchecked Sendable {
  // Sendable: it never changes. A class that inherits from it has to see to what it adds.
  private let network: (any SyncNetwork)?

  /// A transport over HTTP and HTTPS.
  public init() { network = Self.standard }

  init(network: any SyncNetwork) { self.network = network }

  private static var standard: (any SyncNetwork)? {
    #if Sync
      return NIONetwork.shared
    #else
      return nil
    #endif
  }

  /// Sends a request by HTTP or HTTPS. The answer has a `customStatusCode` other than 0 where the server can't be reached.
  open func sendRequest(
    toServer request: RLMRequest, completion: @escaping RLMNetworkTransportCompletionBlock
  ) {
    guard let network else {
      return completion(
        RLMResponse(
          .unreachable(
            "This library was built without the trait Sync, which device sync needs; enable it where your package depends on realm-swift."
          )))
    }
    network.send(NetworkRequest(request)) { result in completion(RLMResponse(result)) }
  }
}

extension NetworkRequest {
  fileprivate init(_ request: RLMRequest) {
    let milliseconds = (request.timeout * 1000).rounded()
    self.init(
      method: request.method.text, url: request.url,
      headers: request.headers.sorted { $0.key < $1.key }.map { NetworkHeader($0.key, $0.value) },
      body: request.method == .get ? [] : Array(request.body.utf8),
      timeout: milliseconds > 0 ? UInt64(exactly: milliseconds) ?? 0 : 0, certificate: request.certificate)
  }
}

extension RLMResponse {
  fileprivate convenience init(_ result: Result<NetworkAnswer, NetworkProblem>) {
    switch result {
    case .failure(let problem): self.init(problem)
    case .success(let answer):
      self.init()
      httpStatusCode = answer.status
      for header in answer.headers {
        let before = headers[header.name].map { $0 + ", " } ?? ""
        headers[header.name] = before + header.value
      }
      body = String(decoding: answer.body, as: UTF8.self)
    }
  }

  convenience init(_ problem: NetworkProblem) {
    self.init()
    customStatusCode = 1
    body = problem.description
    self.problem = problem
  }
}
