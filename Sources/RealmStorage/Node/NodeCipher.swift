import CRealmSodium

/// Seals the nodes and meta pages of an encrypted file. The folders that build on this one see no ciphertext.
///
/// A sealed node is a nonce of 24 bytes and the ciphertext; its tag is in the parent's ref. The associated data binds
/// the file, the place and the birth, so that no node can be swapped, moved or replayed. The nonce is random for each
/// commit, because a place and a birth can come again: a version number that a power loss took without a trace is given
/// anew.
package final class NodeCipher: Sendable {
  static let nonceLength = 24
  private let nodeKey: SecretBytes
  private let metaKey: SecretBytes
  /// The file's id, with its bytes in the order of the file.
  private let file: (UInt64, UInt64)

  /// - Throws: `.invalidKeyLength` unless `key` has 64 bytes.
  package init(key: [UInt8], salt: [UInt8], fileID: [UInt8]) throws(StorageError) {
    guard key.count == KeyDerivation.userKeyLength else { throw .invalidKeyLength(key.count) }
    nodeKey = KeyDerivation.subkey(.nodes, of: key, salt: salt)
    metaKey = KeyDerivation.subkey(.metaPages, of: key, salt: salt)
    precondition(fileID.count == 16, "the id of a file has 16 bytes")
    file = fileID.withUnsafeBytes {
      ($0.loadUnaligned(as: UInt64.self), $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
  }

  /// The state that seals the nodes of one commit. The first nonce is random. For each further nonce, the first 16
  /// bytes stay and the last 8 bytes count up. XChaCha20 derives the key of a message from the first 16 bytes, so one
  /// derivation serves all nodes. Nothing is kept for the next commit, which may come from a copy of this program's
  /// memory.
  struct Sealing: ~Copyable {
    private let derived = SecretBytes(count: 32)
    private var nonce = [UInt8](repeating: 0, count: nonceLength)
    private var isBegun = false

    mutating func end() {
      isBegun = false
      derived.wipe()
    }

    /// Stores the next nonce at `out`. Calls `body` with the key that is derived from the nonce's first 16 bytes, and
    /// with the nonce of the inner ChaCha20, which is made of the other 8 bytes.
    fileprivate mutating func next<Result>(
      _ key: SecretBytes, to out: UnsafeMutableRawPointer,
      _ body: (_ key: UnsafePointer<UInt8>, _ nonce: UnsafePointer<UInt8>) -> Result
    ) -> Result {
      if isBegun {
        nonce.store(nonce.load(UInt64.self, at: Self.counter) &+ 1, at: Self.counter)
      } else {
        randombytes_buf(&nonce, nonce.count)
        crypto_core_hchacha20(derived.base, nonce, key.base, nil)
        isBegun = true
      }
      return nonce.withUnsafeBytes { nonce in
        out.copyMemory(from: nonce.baseAddress!, byteCount: nonceLength)
        let rest = (
          UInt32(0), nonce.loadUnaligned(fromByteOffset: Self.counter, as: UInt32.self),
          nonce.loadUnaligned(fromByteOffset: Self.counter + 4, as: UInt32.self)
        )
        return withUnsafeBytes(of: rest) { rest in
          body(derived.base, rest.baseAddress!.assumingMemoryBound(to: UInt8.self))
        }
      }
    }
    private static let counter = 16
  }

  /// Writes nonce and ciphertext to `out`. Returns the tag.
  func seal(
    _ plain: UnsafeRawBufferPointer, unit: UInt64, birth: UInt64, _ sealing: inout Sealing,
    into out: UnsafeMutableRawPointer
  ) -> (UInt64, UInt64) {
    let bytes = out.assumingMemoryBound(to: UInt8.self)
    var tag: (UInt64, UInt64) = (0, 0)
    sealing.next(nodeKey, to: out) { key, nonce in
      withAssociatedData(unit: unit, birth: birth) { data, length in
        withUnsafeMutableBytes(of: &tag) { tag in
          _ = crypto_aead_chacha20poly1305_ietf_encrypt_detached(
            bytes + Self.nonceLength, tag.baseAddress!.assumingMemoryBound(to: UInt8.self), nil,
            plain.baseAddress!.assumingMemoryBound(to: UInt8.self), UInt64(plain.count), data, length,
            nil, nonce, key)
        }
      }
    }
    return tag
  }

  /// Writes the node's content to `out` and returns true, if the tag vouches for it. Otherwise `out` stays as it is,
  /// because other threads may be reading there. libsodium wipes its output if it can't open the input, so it works on
  /// a copy.
  func unseal(
    _ sealed: UnsafeRawPointer, length: Int, ref: Ref, into out: UnsafeMutableRawPointer
  ) -> Bool {
    let bytes = sealed.assumingMemoryBound(to: UInt8.self)
    let tag = (ref.check, ref.check2)
    return withUnsafeTemporaryAllocation(byteCount: length, alignment: 16) { plain in
      let isWhole = withAssociatedData(unit: ref.unit, birth: ref.birth) { data, dataLength in
        withUnsafeBytes(of: tag) { tag in
          crypto_aead_xchacha20poly1305_ietf_decrypt_detached(
            plain.baseAddress!.assumingMemoryBound(to: UInt8.self), nil, bytes + Self.nonceLength,
            UInt64(length),
            tag.baseAddress!.assumingMemoryBound(to: UInt8.self), data, dataLength, bytes, nodeKey.base)
            == 0
        }
      }
      if isWhole { out.copyMemory(from: plain.baseAddress!, byteCount: length) }
      return isWhole
    }
  }

  /// The code of a meta page: 32 bytes that nobody can make without the key.
  package func authenticate(_ metaPage: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: 32)
    crypto_generichash(&code, code.count, metaPage, UInt64(metaPage.count), metaKey.base, metaKey.count)
    return code
  }

  package static func randomBytes(_ count: Int) -> [UInt8] {
    precondition(sodium_init() >= 0, "libsodium can't start: the system gives no random numbers")
    var bytes = [UInt8](repeating: 0, count: count)
    randombytes_buf(&bytes, count)
    return bytes
  }

  @inline(__always)
  private func withAssociatedData<Result>(
    unit: UInt64, birth: UInt64, _ body: (UnsafePointer<UInt8>, UInt64) -> Result
  ) -> Result {
    withUnsafeBytes(of: (file.0, file.1, unit.littleEndian, birth.littleEndian)) { data in
      body(data.baseAddress!.assumingMemoryBound(to: UInt8.self), UInt64(data.count))
    }
  }
}
