import Foundation
import RealmSyncClient
import Synchronization
import Testing

@testable import RealmSwift

/// The transport that sends requests over the network.
@Suite struct NetworkTransportTests {
  /// Gives each request the same answer.
  private final class Network: SyncNetwork {
    let asked = Mutex<[NetworkRequest]>([])
    let result: Result<NetworkAnswer, NetworkProblem>

    init(_ result: Result<NetworkAnswer, NetworkProblem>) { self.result = result }

    func send(
      _ request: NetworkRequest,
      _ completion: @escaping @Sendable (Result<NetworkAnswer, NetworkProblem>) -> Void
    ) {
      asked.withLock { $0.append(request) }
      let answer = self.result
      DispatchQueue.global().async { completion(answer) }
    }

    func connect(
      _ request: SocketRequest, _ handler: @escaping @Sendable (SocketEvent) -> Void
    ) -> any SyncSocket {
      handler(.closed(.closedHere))
      return Socket()
    }
  }

  private final class Socket: SyncSocket {
    func send(_ message: [UInt8]) {}
    func taken(_ bytes: Int) {}
    func close() {}
  }

  private static func answer(_ network: Network, _ request: RLMRequest) async -> ServerAnswer {
    let transport = RLMNetworkTransport(network: network)
    return await withCheckedContinuation { (continuation: CheckedContinuation<ServerAnswer, Never>) in
      transport.sendRequest(toServer: request) {
        continuation.resume(returning: ServerAnswer($0, to: "POST /there"))
      }
    }
  }

  @Test func `a request of an app is sent over the network, and its answer comes back`() async throws {
    let network = Network(
      .success(
        NetworkAnswer(
          status: 201, headers: [NetworkHeader("A", "b"), NetworkHeader("A", "c")], body: Array("ö".utf8))))
    let request = RLMRequest()
    (request.method, request.url, request.timeout, request.body) = (.post, "https://a.test/there", 1.5, "{}")
    request.headers = ["X": "y", "Accept": "z"]
    request.certificate = "/a.pem"
    let answer = await Self.answer(network, request)
    #expect(answer.status == 201 && answer.body == "ö" && answer.header("a") == "b, c" && answer.isSuccess)
    let sent = try #require(network.asked.withLock { $0.first })
    #expect(
      sent
        == NetworkRequest(
          method: "POST", url: "https://a.test/there",
          headers: [NetworkHeader("Accept", "z"), NetworkHeader("X", "y")], body: Array("{}".utf8),
          timeout: 1500,
          certificate: "/a.pem"))
  }

  @Test func `a GET request has no body, and no time limit if none is set`() async throws {
    let network = Network(.success(NetworkAnswer(status: 200)))
    let request = RLMRequest()
    for timeout in [0, -1, Double.nan, .infinity] {
      (request.body, request.timeout) = ("ignored", timeout)
      _ = await Self.answer(network, request)
    }
    #expect(network.asked.withLock { $0.map(\.body) } == [[], [], [], []])
    #expect(network.asked.withLock { $0.map(\.timeout) } == [0, 0, 0, 0])
    #expect(network.asked.withLock { $0.first?.method } == "GET")
  }

  @Test func `a problem of the network is reported by its kind`() async {
    let problem = NetworkProblem.tls("The certificate is not trusted.")
    let answer = await Self.answer(Network(.failure(problem)), RLMRequest())
    #expect(answer.problem == problem && !answer.isSuccess && answer.status == 0)
    #expect(AppError(answer).localizedDescription == "The certificate is not trusted.")
  }

  @Test func `a transport that answers twice is heard once`() async throws {
    /// Answers each request twice.
    final class Twice: RLMNetworkTransport, @unchecked Sendable {
      // Sendable: it never changes.
      override func sendRequest(
        toServer request: RLMRequest, completion: @escaping RLMNetworkTransportCompletionBlock
      ) {
        let response = RLMResponse()
        response.httpStatusCode = 500
        completion(response)
        completion(response)
      }
    }
    let world = AppWorld()
    let app = world.app { $0.transport = Twice() }
    let error = await appError { _ = try await app.login(credentials: .anonymous) }
    #expect(error?.code == .httpRequestFailed && error?.httpStatusCode == 500)
  }

  @Test func `the methods have the numbers of the interface of Objective-C`() {
    let methods: [RLMHTTPMethod] = [.get, .post, .patch, .put, .delete]
    #expect(methods.map(\.rawValue) == [0, 1, 2, 3, 4])
    #expect(methods.map(\.text) == ["GET", "POST", "PATCH", "PUT", "DELETE"])
  }
}
