import CRealmPlatform

/// Identifies a boot of the machine. Content of shared memory from an earlier boot means nothing in a later one.
package struct BootID: Equatable, Sendable {
  package var first: UInt64
  package var second: UInt64

  package init(first: UInt64, second: UInt64) {
    self.first = first
    self.second = second
  }

  package static let current: BootID = {
    var bytes = [UInt8](repeating: 0, count: 16)
    // On a system without such an id all bytes are zero. Then only the file's identity tells control blocks apart.
    _ = cp_boot_id(&bytes)
    var words: [UInt64] = [0, 0]
    for (index, byte) in bytes.enumerated() { words[index / 8] |= UInt64(byte) << (8 * (index % 8)) }
    return BootID(first: words[0], second: words[1])
  }()
}
