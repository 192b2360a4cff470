import CRealmSodium
import Foundation

/// The functions of libsodium that the accounts use.
package enum Sodium {
  /// True if libsodium has started. Nothing else here may be called before this was read, or if it is false.
  package static let isReady = sodium_init() >= 0

  static let secretKeyLength = 64
  private static let publicKeyLength = 32
  private static let signatureLength = 64

  /// Random bytes that nobody can predict.
  static func random(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    randombytes_buf(&bytes, count)
    return bytes
  }

  /// The BLAKE2b hash of bytes, of 32 bytes.
  static func hash(_ bytes: [UInt8]) -> [UInt8] {
    var hash = [UInt8](repeating: 0, count: 32)
    crypto_generichash(&hash, hash.count, bytes, UInt64(bytes.count), nil, 0)
    return hash
  }

  // MARK: - Signatures

  /// A new key to sign with by Ed25519. Its last 32 bytes are the public key.
  static func newSecretKey() -> [UInt8] {
    var publicKey = [UInt8](repeating: 0, count: publicKeyLength)
    var secretKey = [UInt8](repeating: 0, count: secretKeyLength)
    crypto_sign_keypair(&publicKey, &secretKey)
    return secretKey
  }

  /// - Precondition: the key has 64 bytes.
  package static func signature(of message: [UInt8], by secretKey: [UInt8]) -> [UInt8] {
    var signature = [UInt8](repeating: 0, count: signatureLength)
    crypto_sign_detached(&signature, nil, message, UInt64(message.count), secretKey)
    return signature
  }

  /// Whether a signature of a message is by the owner of a public key. A signature or key of another length is not
  /// valid.
  static func isSignature(_ signature: [UInt8], of message: [UInt8], by publicKey: [UInt8]) -> Bool {
    guard signature.count == signatureLength, publicKey.count == publicKeyLength else { return false }
    return crypto_sign_verify_detached(signature, message, UInt64(message.count), publicKey) == 0
  }

  // MARK: - Passwords

  /// The Argon2id hash of a password with its salt and its cost, as a text; nil if there is not enough memory.
  static func passwordHash(_ password: Password, _ cost: PasswordCost) -> String? {
    var text = [CChar](repeating: 0, count: crypto_pwhash_strbytes())
    let length = UInt64(password.text.utf8.count)
    let refusal = crypto_pwhash_str_alg(
      &text, password.text, length, cost.operations, cost.memory, crypto_pwhash_alg_argon2id13())
    guard refusal == 0 else { return nil }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
  }

  /// Whether a hash is that of a password; nil if there is not enough memory to tell.
  static func isPassword(_ password: Password, of hash: String) -> Bool? {
    // libsodium returns the same for a wrong password and for a lack of memory. The error number tells which of them it
    // is.
    errno = 0
    if crypto_pwhash_str_verify(hash, password.text, UInt64(password.text.utf8.count)) == 0 { return true }
    return errno == ENOMEM ? nil : false
  }
}
