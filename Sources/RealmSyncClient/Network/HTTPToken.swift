#if Sync
  import NIOHTTP1

  /// The characters of names in HTTP (RFC 9110, section 5.6.2).
  enum HTTPToken {
    static func isToken(_ text: String) -> Bool {
      !text.isEmpty
        && text.utf8.allSatisfy { byte in
          switch byte {
          case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
          case UInt8(ascii: "0")...UInt8(ascii: "9"): true
          default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
          }
        }
    }
  }

  extension HTTPHeaders {
    /// The headers that a connection sets by itself. Different servers would read a second such header differently.
    private static let own: Set<String> = [
      "connection", "content-length", "host", "sec-websocket-extensions", "sec-websocket-key",
      "sec-websocket-protocol", "sec-websocket-version", "transfer-encoding", "upgrade",
    ]

    /// Adds headers that the user of the network has chosen.
    ///
    /// - Throws: `NetworkProblem.invalidAddress` for a header that HTTP does not allow, or that the connection sets by
    ///   itself.
    mutating func add(_ given: [NetworkHeader]) throws(NetworkProblem) {
      for header in given {
        let name = String(reflecting: header.name)
        guard HTTPToken.isToken(header.name) else {
          throw .invalidAddress(
            "HTTP allows no header with the name \(name). Use a name of letters, digits and \"-\".")
        }
        guard !Self.own.contains(header.name.lowercased()) else {
          throw .invalidAddress("The header \(name) is set by the connection. Leave it out.")
        }
        // A value with the end of a line would be read as more headers.
        guard header.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
          throw .invalidAddress("The value of the header \(name) has control characters. Leave them out.")
        }
        add(name: header.name, value: header.value)
      }
    }
  }
#endif
