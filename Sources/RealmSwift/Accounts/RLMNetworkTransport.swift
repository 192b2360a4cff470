import Foundation
import RealmSyncClient

/// A closure that a transport calls once with the answer to a request, on any thread.
public typealias RLMNetworkTransportCompletionBlock = @Sendable (_ response: RLMResponse) -> Void

/// An object that sends the requests of an `App`: log-ins, tokens, API keys. Any thread may call it, and several threads may do
/// so at the same time.
public protocol RLMNetworkTransportProtocol: AnyObject, Sendable {
  /// Sends a request.
  ///
  /// A transport must not follow redirections, but return them as answers: the request may have a token that another host must
  /// not see.
  ///
  /// - Parameters:
  ///   - request: the request to send. Its headers may have a token and its body may have a password. Do not write either into a
  ///     log.
  ///   - completion: the closure to call with the answer. Only its first call counts.
  func sendRequest(
    toServer request: RLMRequest, completion: @escaping RLMNetworkTransportCompletionBlock)
}

/// Sends the requests of an `App` over the network. To look at requests, or to answer them in another way in tests, make a
/// subclass and set an object of it as `AppConfiguration.transport`.
open class RLMNetworkTransport: RLMNetworkTransportProtocol, @unchecked Sendable {
  // Sendable: this class never changes. A subclass has to take care of what it adds.
  private let network: (any SyncNetwork)?

  /// Makes a transport that uses HTTP and HTTPS.
  public init() { network = Self.standard }

  init(network: any SyncNetwork) { self.network = network }

  private static var standard: (any SyncNetwork)? {
    #if Sync
      return NIONetwork.shared
    #else
      return nil
    #endif
  }

  /// Sends a request, and calls `completion` once with the answer.
  ///
  /// Each value of the answer's headers that stands several times is joined by commas. If no answer comes, the answer has a
  /// `customStatusCode` other than 0 and a `body` that says why.
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
