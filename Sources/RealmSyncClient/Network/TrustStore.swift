#if Sync
  import NIOCore
  import NIOSSL
  import Synchronization

  /// The TLS contexts that check the certificates of servers.
  ///
  /// To read the certificates that the system trusts takes long, so the contexts are kept.
  final class TrustStore: Sendable {
    static let shared = TrustStore()

    private struct Entry: Sendable {
      let certificates: [NIOSSLCertificate]
      let context: NIOSSLContext
    }

    /// The contexts by the path of the file with more certificates; nil stands for no such file.
    private let entries = Mutex<[String?: Entry]>([:])

    private init() {}

    /// - Parameter path: the path of a file with certificates that are trusted beside those of the system. It is read
    ///   each time, so that a changed file counts for the next connection.
    /// - Throws: `NetworkProblem.tls`.
    func context(trusting path: String?) throws(NetworkProblem) -> NIOSSLContext {
      var certificates: [NIOSSLCertificate] = []
      if let path { certificates = try Self.read(path) }
      if let known = entries.withLock({ $0[path] }), known.certificates == certificates {
        return known.context
      }
      let context = try Self.make(certificates)
      let entry = Entry(certificates: certificates, context: context)
      entries.withLock { $0[path] = entry }
      return context
    }

    private static func read(_ path: String) throws(NetworkProblem) -> [NIOSSLCertificate] {
      let certificates: [NIOSSLCertificate]
      do {
        certificates = try NIOSSLCertificate.fromPEMFile(path)
      } catch {
        throw .tls("The file \(path) can't be read: \(error). Name a file with certificates in the form PEM.")
      }
      guard !certificates.isEmpty else {
        throw .tls("The file \(path) holds no certificate. Name one with certificates in the form PEM.")
      }
      return certificates
    }

    private static func make(_ certificates: [NIOSSLCertificate]) throws(NetworkProblem) -> NIOSSLContext {
      var configuration = TLSConfiguration.makeClientConfiguration()
      configuration.minimumTLSVersion = .tlsv12
      configuration.applicationProtocols = ["http/1.1"]
      // If a server does not end its side of TLS, the connection stays open for this time.
      configuration.shutdownTimeout = .seconds(1)
      if !certificates.isEmpty { configuration.additionalTrustRoots = [.certificates(certificates)] }
      do {
        return try NIOSSLContext(configuration: configuration)
      } catch {
        throw .tls("TLS can't be used: \(error). Check the certificates that the system trusts.")
      }
    }
  }
#endif
