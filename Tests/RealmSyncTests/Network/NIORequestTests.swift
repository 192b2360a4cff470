#if Sync
  import Foundation
  import RealmSyncClient
  import Testing

  /// HTTP requests over the system's network.
  @Suite(.timeLimit(.minutes(5))) struct NIORequestTests {
    private static func address(
      _ server: RawServer, _ path: String = "/", host: String = "127.0.0.1"
    ) -> String {
      "http://\(host):\(server.port)\(path)"
    }

    /// The result of a request that a server answers with some bytes.
    private static func result(of bytes: [UInt8]) async throws -> Result<NetworkAnswer, NetworkProblem> {
      var result: Result<NetworkAnswer, NetworkProblem>?
      try await withServer { server in
        let pending = PendingAnswer(to: NetworkRequest(method: "GET", url: address(server)))
        let connection = try await server.connection()
        _ = try await connection.request()
        connection.send(bytes)
        connection.close()
        result = try await pending.result()
      }
      return try #require(result)
    }

    private static func kind(of text: String) async throws -> String? {
      guard case .failure(let problem) = try await result(of: Array(text.utf8)) else { return nil }
      return problem.kind
    }

    // MARK: - What is sent

    @Test func `a request is sent in the form of HTTP`() async throws {
      try await withServer { server in
        let url = Self.address(server, "/a/b%20c?d=e&f", host: "localhost")
        let headers = [NetworkHeader("X-One", "1"), NetworkHeader("Authorization", "Bearer word")]
        let body = Array("words".utf8)
        let pending = PendingAnswer(
          to: NetworkRequest(method: "POST", url: url, headers: headers, body: body))
        let connection = try await server.connection()
        let request = try await connection.request()
        #expect(request.line == "POST /a/b%20c?d=e&f HTTP/1.1")
        #expect(request.headers["host"] == "localhost:\(server.port)")
        #expect(request.headers["connection"] == "close")
        #expect(request.headers["content-length"] == "5")
        #expect(request.headers["x-one"] == "1")
        #expect(request.headers["authorization"] == "Bearer word")
        #expect(request.body == "words")
        connection.send("HTTP/1.1 201 Created\r\nX-Two: 2\r\nContent-Length: 3\r\n\r\nyes")
        let answer = try await pending.answer()
        #expect(answer.status == 201)
        #expect(answer.headers.contains(NetworkHeader("X-Two", "2")))
        #expect(answer.body == Array("yes".utf8))
        try await connection.end()
      }
    }

    @Test func `a GET request has no body and no length`() async throws {
      try await withServer { server in
        let url = "http://127.0.0.1:\(server.port)?a"
        let pending = PendingAnswer(to: NetworkRequest(method: "GET", url: url))
        let connection = try await server.connection()
        let request = try await connection.request()
        #expect(request.line == "GET /?a HTTP/1.1")
        #expect(request.headers["content-length"] == nil)
        #expect(request.headers["transfer-encoding"] == nil)
        connection.send("HTTP/1.1 204 No Content\r\n\r\n")
        let found1 = try await pending.answer()
        #expect(found1 == NetworkAnswer(status: 204))
      }
    }

    // MARK: - Answers

    @Test(arguments: [200, 299, 301, 304, 308, 400, 401, 403, 404, 429, 500, 503])
    func `every status is an answer`(status: Int) async throws {
      let text = "HTTP/1.1 \(status) Words\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n"
      let answer = try await Self.result(of: Array(text.utf8)).get()
      #expect(answer.status == status)
      #expect(answer.body.isEmpty)
      #expect(answer.headers.contains(NetworkHeader("Location", "/b")))
    }

    @Test func `the body of an answer ends where its head says`() async throws {
      let bodies = [
        "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcdef",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n3\r\nbcd\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\nabcd",
        "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcd",
      ]
      for text in bodies {
        let answer = try await Self.result(of: Array(text.utf8)).get()
        #expect(answer.status == 200)
        #expect(answer.body == Array("abcd".utf8))
      }
    }

    @Test func `a connection that breaks within an answer is lost`() async throws {
      let found2 = try await Self.kind(of: "")
      #expect(found2 == "lost")
      let found3 = try await Self.kind(of: "HTTP/1.1 200 OK\r\nContent-Le")
      #expect(found3 == "lost")
      let found4 = try await Self.kind(of: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc")
      #expect(found4 == "lost")
      let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
      let found5 = try await Self.kind(of: chunks)
      #expect(found5 == "lost")
    }

    @Test func `an answer that is not HTTP is damaged`() async throws {
      let found6 = try await Self.kind(of: "SSH-2.0-OpenSSH_9.6\r\n")
      #expect(found6 == "damaged")
      let found7 = try await Self.kind(of: "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n")
      #expect(found7 == "damaged")
      let long = "HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 70_000))\r\n\r\n"
      let found8 = try await Self.kind(of: long)
      #expect(found8 == "damaged")
    }

    @Test func `an answer has at most as many bytes as the limit says`() async throws {
      let head = "HTTP/1.1 200 OK\r\n\r\n"
      let most = [UInt8](repeating: 7, count: SocketLimit.answer)
      let found9 = try await Self.result(of: Array(head.utf8) + most).get().body
      #expect(found9 == most)
      let result = try await Self.result(of: Array(head.utf8) + most + [7])
      guard case .failure(let problem) = result else {
        Issue.record("A longer answer was taken.")
        return
      }
      #expect(problem.kind == "damaged")
    }

    // MARK: - What goes wrong

    @Test func `a server that does not answer in time is given up`() async throws {
      try await withServer { server in
        let request = NetworkRequest(method: "GET", url: Self.address(server), timeout: 300)
        let pending = PendingAnswer(to: request)
        let connection = try await server.connection()
        connection.send("HTTP/1.1 200 OK\r\n")
        let found10 = try await pending.problem()?.kind
        #expect(found10 == "timedOut")
        try await connection.end()
      }
    }

    @Test func `a problem names the host and the port if nothing listens there`() async throws {
      let server = try await RawServer.start()
      await server.stop()
      for host in ["127.0.0.1", "localhost"] {
        let request = NetworkRequest(method: "GET", url: Self.address(server, host: host))
        let problem = try await PendingAnswer(to: request).problem()
        #expect(problem?.kind == "unreachable")
        #expect(problem?.description.contains("\(host):\(server.port)") == true)
      }
    }

    @Test(arguments: [
      "", "http", "http:/a", "ftp://a/", "ws://a/", "http://", "http:///a", "http://a b/", "http://a:0/",
      "http://a:65536/", "http://a:+1/", "http://a:/", "http://a:1:2/", "http://user:word@a/", "http://[::1/",
      "http://[a]/", "http://[::1]a/", "http://ä.de/", "http://a/\r\nX: 1", "http://a/#b", "http://a/%4",
      "http://a/%zz", "http://a/<", "http://.a/", "http://a\\b/",
    ])
    func `a text that is not the address of a request is refused`(url: String) async throws {
      let problem = try await PendingAnswer(to: NetworkRequest(method: "GET", url: url)).problem()
      #expect(problem?.kind == "invalidAddress")
      #expect(problem?.description.contains("word") != true)
    }

    @Test func `characters that could end a line of a head are never sent`() async throws {
      try await withServer { server in
        let url = Self.address(server)
        let headers = [
          NetworkHeader("X", "1\r\nY: 2"), NetworkHeader("X", "1\u{0}"), NetworkHeader("X", "1\u{7f}"),
          NetworkHeader("X: 1\r\nY", "2"), NetworkHeader("", "1"), NetworkHeader("Host", "a"),
          NetworkHeader("content-length", "1"),
        ]
        for header in headers {
          let request = NetworkRequest(method: "GET", url: url, headers: [header])
          let found11 = try await PendingAnswer(to: request).problem()?.kind
          #expect(found11 == "invalidAddress")
        }
        for method in ["", "GET / HTTP/1.1\r\nX:", "G T"] {
          let request = NetworkRequest(method: method, url: url)
          let found12 = try await PendingAnswer(to: request).problem()?.kind
          #expect(found12 == "invalidAddress")
        }
        let request = NetworkRequest(method: "GET", url: url, body: [1])
        let found13 = try await PendingAnswer(to: request).problem()?.kind
        #expect(found13 == "invalidAddress")
        #expect(server.count == 0)
      }
    }

    // MARK: - TLS

    /// Asks a server that has a certificate.
    ///
    /// - Returns: The problem that ended the request.
    private static func ask(
      _ server: RawServer, url: String, file: String?
    ) async throws -> NetworkProblem? {
      let request = NetworkRequest(method: "GET", url: url, certificate: file)
      let pending = PendingAnswer(to: request)
      // A client that does not trust the server sends no request.
      let connection = try await server.connection()
      let isAnswered = try await eventually("a request or a result") { () -> Bool? in
        if connection.nextRequest() != nil { return true }
        return pending.isDone ? false : nil
      }
      if isAnswered { connection.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes") }
      return try await pending.problem()
    }

    @Test func `a server is trusted if its certificate is in a file`() async throws {
      try await withServer(tls: TestCertificate.server()) { server in
        try await TestCertificate.withFile { file in
          for host in ["localhost", "127.0.0.1"] {
            let url = "https://\(host):\(server.port)/"
            let found14 = try await Self.ask(server, url: url, file: file)
            #expect(found14 == nil)
            let found15 = try await Self.ask(server, url: url, file: nil)?.kind
            #expect(found15 == "tls")
            let found16 = try await Self.ask(server, url: url, file: file)
            #expect(found16 == nil)
          }
        }
      }
    }

    @Test func `a client does not speak to a server without TLS`() async throws {
      try await withServer { server in
        let url = "https://127.0.0.1:\(server.port)/"
        let pending = PendingAnswer(to: NetworkRequest(method: "GET", url: url))
        let connection = try await server.connection()
        connection.send("HTTP/1.1 400 Bad Request\r\n\r\n")
        let found17 = try await pending.problem()?.kind
        #expect(found17 == "tls")
      }
    }

    @Test func `a problem names a file without certificates`() async throws {
      let missing = NetworkRequest(method: "GET", url: "https://127.0.0.1:1/", certificate: "/nowhere/a.pem")
      let problem = try await PendingAnswer(to: missing).problem()
      #expect(problem?.kind == "tls")
      #expect(problem?.description.contains("/nowhere/a.pem") == true)
      try await TestCertificate.withFile("words") { file in
        let empty = NetworkRequest(method: "GET", url: "https://127.0.0.1:1/", certificate: file)
        let problem = try await PendingAnswer(to: empty).problem()
        #expect(problem?.kind == "tls")
        #expect(problem?.description.contains(file) == true)
      }
    }
  }
#endif
