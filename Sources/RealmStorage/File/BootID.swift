import CRealmPlatform

/// Differs from boot to boot: what was noted in shared memory before a boot means nothing after it.
package struct BootID: Equatable, Sendable {
  package var first: UInt64
  package var second: UInt64

  package init(first: UInt64, second: UInt64) {
    self.first = first
    self.second = second
  }

  package static let current: BootID = {
    var bytes = [UInt8](repeating: 0, count: 16)
    // A system without one gives zeros: then only the file's identity tells blocks apart.
    _ = cp_boot_id(&bytes)
    var words: [UInt64] = [0, 0]
    for (index, byte) in bytes.enumerated() { words[index / 8] |= UInt64(byte) << (8 * (index % 8)) }
    return BootID(first: words[0], second: words[1])
  }()
}
