#if Sync
  import NIOCore
  import NIOHTTP1
  import NIOPosix
  import NIOSSL

  extension NetworkProblem {
    /// The reason why no connection was made.
    init(connecting error: any Error, to address: NetworkAddress) {
      let place = address.place
      switch error {
      case let error as ChannelError:
        if case .connectTimeout = error {
          self = .outOfTime(address)
        } else {
          self = .unreachable("\(place) can't be reached: \(error). Check the address and the network.")
        }
      case let error as NIOConnectionError where error.connectionErrors.isEmpty:
        self = .unreachable("The host of \(place) was not found. Check its name, and the network.")
      case let error as NIOConnectionError:
        let reasons = error.connectionErrors.map { "\($0.error)" }.joined(separator: "; ")
        self = .unreachable("Nothing answers at \(place): \(reasons). Check that the server runs.")
      default:
        self = .unreachable("Nothing answers at \(place): \(error). Check that the server runs.")
      }
    }

    /// The meaning of an error of a connection.
    init(_ error: any Error, with address: NetworkAddress) {
      let place = address.place
      switch error {
      case let problem as NetworkProblem: self = problem
      case let error as NIOSSLError where error == .uncleanShutdown: self = .broken(address)
      case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
        self = .tls("There is no trusted TLS with \(place): \(error). Check the certificate of the server.")
      // The connection ended within an answer.
      case let error as HTTPParserError where error == .invalidEOFState: self = .broken(address)
      case is HTTPParserError, is NIOHTTPDecoderError, is ByteToMessageDecoderError:
        self = .damaged("What \(place) answers is no HTTP: \(error). Check the address.")
      default: self = .lost("The connection to \(place) broke: \(error). Try again.")
      }
    }

    static func broken(_ address: NetworkAddress) -> NetworkProblem {
      .lost("\(address.place) has ended the connection before it was done. Try again.")
    }

    static func outOfTime(_ address: NetworkAddress) -> NetworkProblem {
      .timedOut("\(address.place) has not answered in time. Try again, or allow more time.")
    }
  }
#endif
