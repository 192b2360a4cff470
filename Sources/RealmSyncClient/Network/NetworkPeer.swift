#if Sync
  import NIOCore
  import NIOHTTP1
  import NIOPosix
  import NIOSSL

  /// The other side of a connection, and the way to connect to it.
  struct NetworkPeer: Sendable {
    let address: NetworkAddress
    /// The context that checks the certificate of the peer; nil for a plain connection.
    private let trust: NIOSSLContext?

    /// - Throws: `NetworkProblem.invalidAddress`, and `NetworkProblem.tls` if a file with certificates can't be read.
    init(_ url: String, _ kind: NetworkAddress.Kind, certificate: String?) throws(NetworkProblem) {
      address = try NetworkAddress(url, kind)
      trust = try address.isSecure ? TrustStore.shared.context(trusting: certificate) : nil
    }

    /// Connects. The caller must be on the event loop, on which `completion` is called later.
    ///
    /// The connection reads nothing before `startReading`, so that handlers can be added first.
    func connect(
      within timeout: TimeAmount?, on eventLoop: any EventLoop,
      _ completion: @escaping (Result<any Channel, NetworkProblem>) -> Void
    ) {
      let bootstrap = ClientBootstrap(group: eventLoop)
        .channelOption(.autoRead, value: false)
        .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        // With a greater number, a connection that has stopped reading would still read that many times.
        .channelOption(.maxMessagesPerRead, value: 1)
        .connectTimeout(timeout ?? .hours(24))
      let connecting =
        if let ipAddress = address.ipAddress {
          bootstrap.connect(to: ipAddress)
        } else {
          bootstrap.connect(host: address.host, port: address.port)
        }
      connecting.assumeIsolated().whenComplete { [address] result in
        switch result {
        case .success(let channel): completion(.success(channel))
        case .failure(let error): completion(.failure(NetworkProblem(connecting: error, to: address)))
        }
      }
    }

    /// Adds the TLS handler to a new connection, if the address asks for TLS.
    func addTLS(to channel: any Channel) throws {
      guard let trust else { return }
      // If the host is an IP address, the certificate is checked against the address of the connection.
      let name = address.ipAddress == nil ? address.host : nil
      let handler = try NIOSSLClientHandler(context: trust, serverHostname: name)
      try channel.pipeline.syncOperations.addHandler(handler)
    }

    /// Adds the handlers that write HTTP requests and read answers.
    static func addHTTP(to channel: any Channel) throws {
      var limits = NIOHTTPDecoderLimitConfiguration()
      limits.maxHeaderFieldSize = 64 << 10
      limits.maxHeaderListSize = 64 << 10
      let decoder = HTTPResponseDecoder(
        leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .drop, limitConfiguration: limits)
      try channel.pipeline.syncOperations.addHandler(HTTPRequestEncoder())
      try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(decoder))
    }

    static func startReading(_ channel: any Channel) throws {
      try channel.syncOptions?.setOption(.autoRead, value: true)
    }
  }
#endif
