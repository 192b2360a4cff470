import NIOCore
import NIOSSL
import Synchronization

/// The certificate of the server and its key, which may be read again while the front runs.
final class Certificates: Sendable {
  private let files: TLSFiles
  private let current: Mutex<NIOSSLContext>

  /// - Throws: `FrontError`.
  init(_ files: TLSFiles) throws(FrontError) {
    self.files = files
    current = try Mutex(Self.read(files))
  }

  /// The certificate and the key that the next connection uses.
  var context: NIOSSLContext { current.withLock { $0 } }

  /// Reads the files again. If that fails, the next connections use what was read before.
  ///
  /// - Throws: `FrontError`.
  func reload() throws(FrontError) {
    let context = try Self.read(files)
    current.withLock { $0 = context }
  }

  private static func read(_ files: TLSFiles) throws(FrontError) -> NIOSSLContext {
    let chain = try using(files.certificates) { try NIOSSLCertificate.fromPEMFile($0) }
    guard !chain.isEmpty else { throw .noCertificate(path: files.certificates) }
    let key = try using(files.key) { try NIOSSLPrivateKey(file: $0, format: .pem) }
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["http/1.1"]
    // A client that does not end its side of TLS keeps the connection open for this time.
    configuration.shutdownTimeout = .seconds(2)
    let complete = configuration
    return try using(files.key) { _ in try NIOSSLContext(configuration: complete) }
  }

  private static func using<Value>(
    _ path: String, _ body: (String) throws -> Value
  ) throws(FrontError) -> Value {
    do {
      return try body(path)
    } catch {
      throw .unusableFile(path: path, reason: "\(error)")
    }
  }
}
