import CSodium

/// Seals nodes and meta pages of an encrypted file. No floor above sees ciphertext.
///
/// A sealed node is a random nonce of 24 bytes and the ciphertext; its tag stands in the parent's ref. The associated
/// data binds file, place and birth, so that no node can be swapped, moved or replayed. The nonce is random because a
/// place and a birth can come again: a version number that power loss took without a trace is given anew.
package final class NodeCipher: Sendable {
  static let nonceLength = 24
  private let nodeKey: SecretBytes
  private let metaKey: SecretBytes
  private let fileID: [UInt8]

  /// - Throws: `.invalidKeyLength` unless `key` has 64 bytes.
  package init(key: [UInt8], salt: [UInt8], fileID: [UInt8]) throws(StorageError) {
    guard key.count == KeyDerivation.userKeyLength else { throw .invalidKeyLength(key.count) }
    nodeKey = KeyDerivation.subkey(.nodes, of: key, salt: salt)
    metaKey = KeyDerivation.subkey(.metaPages, of: key, salt: salt)
    self.fileID = fileID
  }

  /// Writes nonce and ciphertext to `out` and answers the tag.
  func seal(
    _ plain: UnsafeRawBufferPointer, unit: UInt64, birth: UInt64, into out: UnsafeMutableRawPointer
  ) -> (UInt64, UInt64) {
    let bytes = out.assumingMemoryBound(to: UInt8.self)
    randombytes_buf(bytes, Self.nonceLength)
    var tag: (UInt64, UInt64) = (0, 0)
    let data = associatedData(unit: unit, birth: birth)
    withUnsafeMutableBytes(of: &tag) { tag in
      _ = crypto_aead_xchacha20poly1305_ietf_encrypt_detached(
        bytes + Self.nonceLength, tag.baseAddress!.assumingMemoryBound(to: UInt8.self), nil,
        plain.baseAddress!.assumingMemoryBound(to: UInt8.self), UInt64(plain.count), data, UInt64(data.count),
        nil, bytes, nodeKey.base)
    }
    return tag
  }

  /// Writes the node's content to `out` if the tag vouches for it; else leaves `out` as it is, since others may be
  /// reading there: libsodium wipes what it could not open, so it works on a copy.
  func unseal(
    _ sealed: UnsafeRawPointer, length: Int, ref: Ref, into out: UnsafeMutableRawPointer
  ) -> Bool {
    let bytes = sealed.assumingMemoryBound(to: UInt8.self)
    let tag = (ref.check, ref.check2)
    let data = associatedData(unit: ref.unit, birth: ref.birth)
    return withUnsafeTemporaryAllocation(byteCount: length, alignment: 16) { plain in
      let isWhole = withUnsafeBytes(of: tag) { tag in
        crypto_aead_xchacha20poly1305_ietf_decrypt_detached(
          plain.baseAddress!.assumingMemoryBound(to: UInt8.self), nil, bytes + Self.nonceLength,
          UInt64(length),
          tag.baseAddress!.assumingMemoryBound(to: UInt8.self), data, UInt64(data.count), bytes, nodeKey.base)
          == 0
      }
      if isWhole { out.copyMemory(from: plain.baseAddress!, byteCount: length) }
      return isWhole
    }
  }

  /// 32 bytes that only who has the key can make.
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

  private func associatedData(unit: UInt64, birth: UInt64) -> [UInt8] {
    var data = fileID
    data.reserveCapacity(32)
    withUnsafeBytes(of: unit.littleEndian) { data.append(contentsOf: $0) }
    withUnsafeBytes(of: birth.littleEndian) { data.append(contentsOf: $0) }
    return data
  }
}
