import RealmStorage
import RealmTestSupport

/// Changes bytes so that their decoder meets what no encoder writes.
enum ByteChanges {
  static func changed(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
    var made = bytes
    for _ in 0...generator.below(3) { change(&made, &generator) }
    return made
  }

  private static func change(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
    guard !bytes.isEmpty else {
      bytes = generator.bytes(1 + generator.below(12))
      return
    }
    let place = generator.below(bytes.count)
    let end = min(bytes.count, place + 1 + generator.below(8))
    switch generator.below(10) {
    case 0, 1, 2: bytes[place] ^= UInt8(1 + generator.below(255))
    case 3: bytes[place] = [0, 1, 2, 3, 0x7f, 0x80, 0xff][generator.below(7)]
    case 4: bytes.removeSubrange(place..<end)
    case 5: bytes.removeSubrange(place...)
    case 6: bytes += generator.bytes(1 + generator.below(20))
    case 7: bytes.replaceSubrange(place..<place + 1, with: varint(&generator))
    case 8:
      guard place + 8 <= bytes.count else { return bytes.insert(contentsOf: varint(&generator), at: place) }
      bytes.store(extremeValue(&generator), at: place)
    default:
      let piece = Array(bytes[place..<end])
      bytes.insert(contentsOf: piece, at: generator.below(bytes.count + 1))
    }
  }

  /// A varint, the form of most counts, lengths and versions.
  private static func varint(_ generator: inout SeededGenerator) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.appendVarint(extremeValue(&generator))
    return bytes
  }
}

/// Expands the compressed bodies of messages.
enum PlainFrame {
  /// The message numbers of an upload and of a step.
  private static let numbers: [UInt8] = [12, 14]

  /// The same message with a body that is not compressed. A changed byte of a compressed body breaks the stream, and
  /// then no field is read. Bytes that are not such a message are returned unchanged.
  static func of(_ frame: [UInt8]) -> [UInt8] {
    guard let number = frame.first, numbers.contains(number) else { return frame }
    var reader = ByteReader(frame)
    guard reader.varint() != nil, let expanded = reader.varint(), (1...1 << 20).contains(expanded) else {
      return frame
    }
    let stream = Array(reader.bytes(reader.count) ?? [])
    guard let body = Deflate.expanded(stream, count: Int(expanded)) else { return frame }
    return [number, 0] + body
  }
}
