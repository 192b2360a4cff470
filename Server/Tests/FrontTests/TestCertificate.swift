import Foundation
import Front
import NIOSSL

/// A certificate for this machine's name that is signed with its own key, and that key. The certificates here are for
/// tests only, so the keys are not secret. They are valid from 2020 to 2120.
struct TestCertificate: Sendable {
  let certificate: String
  let key: String

  /// The TLS context of a client that trusts only this certificate.
  func client(upTo version: TLSVersion? = nil) throws -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8)))
    configuration.certificateVerification = .noHostnameVerification
    configuration.maximumTLSVersion = version
    return try NIOSSLContext(configuration: configuration)
  }

  func write(to files: TLSFiles) throws {
    try Data(certificate.utf8).write(to: URL(fileURLWithPath: files.certificates))
    try Data(key.utf8).write(to: URL(fileURLWithPath: files.key))
  }

  static let first = TestCertificate(
    certificate: """
      -----BEGIN CERTIFICATE-----
      MIIBZzCCAQ2gAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
      c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
      CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABEHCH9Xf7Ishx9q3
      rePwjHfo2idACwnlUVQPM6YJz05xRn3ngWrytfVNBkbHnGzSYLac4j+ZmauDgouF
      H+0U3IKjTjBMMA8GA1UdEwEB/wQFMAMBAf8wGgYDVR0RBBMwEYIJbG9jYWxob3N0
      hwR/AAABMB0GA1UdDgQWBBSMVkpi5PgQS+IP1ZJxbs9CIkcAijAKBggqhkjOPQQD
      AgNIADBFAiBT1fAQvLWdJjR7b9TnKbYYOLAkSRmm5OXWY2xqbcxByAIhALs8IX2G
      dsOm4w0ev/+nNXMos2IZSGXcNbLeXbQKIXls
      -----END CERTIFICATE-----
      """,
    key: """
      -----BEGIN PRIVATE KEY-----
      MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg5jCT4z0TS+Z5VKSz
      bnWYmeTQRI6EAncWKcPdp7qPVXyhRANCAARBwh/V3+yLIcfat63j8Ix36NonQAsJ
      5VFUDzOmCc9OcUZ954Fq8rX1TQZGx5xs0mC2nOI/mZmrg4KLhR/tFNyC
      -----END PRIVATE KEY-----
      """)

  static let second = TestCertificate(
    certificate: """
      -----BEGIN CERTIFICATE-----
      MIIBZjCCAQ2gAwIBAgIBAjAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhv
      c3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMM
      CWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABECgxhoNsRQJF3FK
      Gjy5MpgXH9JwxyKGQ4IGJa8nQF33mC1Z/V6nsItYrjzg7z1GWEmMS3g4o4qs4kVo
      TWZxlymjTjBMMA8GA1UdEwEB/wQFMAMBAf8wGgYDVR0RBBMwEYIJbG9jYWxob3N0
      hwR/AAABMB0GA1UdDgQWBBShMDSM0nRGNcFjG+YZ2H5ButlfPjAKBggqhkjOPQQD
      AgNHADBEAiACXR2JT+bEgrYxF4ApCTRbpWtU5NTQNY+ZiL65Zm8ljQIgQEWDc3Mt
      OPayaiBXViat2igoxd/7LYgo+7tkaTsjQhM=
      -----END CERTIFICATE-----
      """,
    key: """
      -----BEGIN PRIVATE KEY-----
      MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg50FKhN0mmcA50SQE
      PM8MMNT/W9GMNG5f0knQXIQUNSehRANCAARAoMYaDbEUCRdxSho8uTKYFx/ScMci
      hkOCBiWvJ0Bd95gtWf1ep7CLWK484O89RlhJjEt4OKOKrOJFaE1mcZcp
      -----END PRIVATE KEY-----
      """)
}
