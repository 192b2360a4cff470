#if Sync
  import NIOCore

  /// The parts of the address of a request or of a WebSocket.
  struct NetworkAddress: Sendable, Equatable {
    enum Kind: Sendable {
      case request, socket

      /// The scheme of plain connections. The scheme of connections with TLS has an `s` behind it.
      var scheme: String { self == .request ? "http" : "ws" }
    }

    /// True if the connection is made with TLS.
    let isSecure: Bool
    /// A name, or an IP address without brackets.
    let host: String
    let port: Int
    /// The path and the query, in the form of the first line of a request.
    let target: String

    /// - Throws: `NetworkProblem.invalidAddress`.
    init(_ text: String, _ kind: Kind) throws(NetworkProblem) {
      func refuse(_ reason: String) -> NetworkProblem { Self.problem(text, kind, reason) }
      guard text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
        throw refuse("it has characters other than the visible ones of ASCII")
      }
      guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else {
        throw refuse("it does not begin with a scheme")
      }
      switch text[..<colon].lowercased() {
      case kind.scheme: isSecure = false
      case kind.scheme + "s": isSecure = true
      default: throw refuse("its scheme is neither \"\(kind.scheme)\" nor \"\(kind.scheme)s\"")
      }
      let rest = text[colon...].dropFirst(3)
      let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
      guard let (host, port) = Self.hostAndPort(authority) else {
        throw refuse("its host or its port is not valid")
      }
      guard let target = Self.target(rest[authority.endIndex...]) else {
        throw refuse("its path or its query is not valid, or it has a fragment")
      }
      (self.host, self.target) = (host, target)
      self.port = port ?? (isSecure ? 443 : 80)
    }

    private static func problem(_ text: String, _ kind: Kind, _ reason: String) -> NetworkProblem {
      // The text before "@" and behind "?" may be secret.
      let shown = String(reflecting: String(text.prefix { $0 != "?" && $0 != "#" }))
      let name = text.contains("@") ? "An address with a user" : "The address \(shown)"
      let form = "\(kind.scheme)s://example.com/path"
      return .invalidAddress("\(name) can't be used, because \(reason). Use one that is like \"\(form)\".")
    }

    // MARK: - Parts

    private static func hostAndPort(_ text: Substring) -> (host: String, port: Int?)? {
      let host: Substring
      let rest: Substring
      if text.hasPrefix("[") {
        guard let end = text.firstIndex(of: "]") else { return nil }
        host = text[..<end].dropFirst()
        rest = text[end...].dropFirst()
        guard isLongIPAddress(host) else { return nil }
      } else {
        host = text.prefix { $0 != ":" }
        rest = text[host.endIndex...]
        guard isName(host) else { return nil }
      }
      if rest.isEmpty { return (String(host), nil) }
      let digits = rest.dropFirst()
      // The conversion of the standard library accepts a sign, too.
      guard rest.first == ":", digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let port = UInt16(digits), port > 0
      else { return nil }
      return (String(host), Int(port))
    }

    private static func isLongIPAddress(_ text: Substring) -> Bool {
      text.contains(":") && text.allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
        && (try? SocketAddress(ipAddress: String(text), port: 0)) != nil
    }

    /// True for a name, or an IP address with four numbers.
    private static func isName(_ text: Substring) -> Bool {
      (1...253).contains(text.utf8.count) && !text.hasPrefix(".")
        && text.utf8.allSatisfy { isLetterOrDigit($0) || "-._".utf8.contains($0) }
    }

    private static func target(_ text: Substring) -> String? {
      let bytes = Array(text.utf8)
      for (place, byte) in bytes.enumerated() {
        if byte == UInt8(ascii: "%") {
          let digits = bytes.dropFirst(place + 1).prefix(2)
          guard digits.count == 2, digits.allSatisfy(isHexDigit) else { return nil }
        } else {
          guard isLetterOrDigit(byte) || "-._~!$&'()*+,;=:@/?".utf8.contains(byte) else { return nil }
        }
      }
      return text.hasPrefix("/") ? String(text) : "/\(text)"
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"): true
      default: false
      }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"): true
      default: false
      }
    }

    // MARK: - What is made of it

    /// The IP address and the port; nil if the host is a name.
    var ipAddress: SocketAddress? { try? SocketAddress(ipAddress: host, port: port) }

    /// The host and the port, as people write them.
    var place: String { "\(writtenHost):\(port)" }

    /// The value of the header `Host`.
    var hostHeader: String { port == (isSecure ? 443 : 80) ? writtenHost : place }

    private var writtenHost: String { host.contains(":") ? "[\(host)]" : host }
  }
#endif
