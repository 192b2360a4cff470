import CRealmSodium

/// Secret bytes outside of Swift's heap, which are wiped when the object is released.
final class SecretBytes: @unchecked Sendable {
  // Sendable: the bytes are written before other threads see the object, or by the only one that has it.
  let base: UnsafeMutablePointer<UInt8>
  let count: Int

  init(count: Int) {
    precondition(sodium_init() >= 0, "libsodium can't start: the system gives no random numbers")
    base = .allocate(capacity: count)
    base.initialize(repeating: 0, count: count)
    self.count = count
    sodium_mlock(base, count)
  }

  func wipe() { sodium_memzero(base, count) }

  deinit {
    // This call wipes the bytes before it unlocks them.
    sodium_munlock(base, count)
    base.deallocate()
  }
}

/// Derives the subkeys of one file: keyed BLAKE2b over a label and the file's salt (FORMAT.md, "Encryption").
enum KeyDerivation {
  static let userKeyLength = 64
  static let saltLength = 16

  enum Purpose: String {
    case nodes = "realm.nodes.1"
    case metaPages = "realm.meta..1"
  }

  static func subkey(_ purpose: Purpose, of key: borrowing [UInt8], salt: [UInt8]) -> SecretBytes {
    precondition(key.count == userKeyLength && salt.count == saltLength, "wrong length of a key or salt")
    let subkey = SecretBytes(count: 32)
    let input = Array(purpose.rawValue.utf8) + salt
    crypto_generichash(subkey.base, subkey.count, input, UInt64(input.count), key, key.count)
    return subkey
  }
}
