import RealmStorage

/// A number that is different for nearly all different contents.
package struct Fingerprint {
  package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

  package init() {}

  package mutating func add(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { bytes in
      var at = 0
      while at + 8 <= bytes.count {
        add(bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
        at += 8
      }
      for byte in bytes[at...] { add(UInt64(byte)) }
    }
    add(UInt64(bytes.count))
  }

  package mutating func add(_ word: UInt64) {
    value = (value ^ word) &* 0x9e37_79b9_7f4a_7c15
    value ^= value >> 29
  }

  package mutating func add(_ element: Value) {
    switch element {
    case .null: add(1)
    case .bool(let flag): add(flag ? 2 : 3)
    case .int(let number): add(UInt64(bitPattern: number))
    case .float(let number): add(UInt64(number.bitPattern))
    case .double(let number): add(number.bitPattern)
    case .string(let text): add(Array(text.utf8))
    case .data(let bytes): add(bytes)
    case .date(let date):
      add(UInt64(bitPattern: date.seconds))
      add(UInt64(date.nanoseconds))
    case .objectID(let id): add(id.bytes)
    case .uuid(let id), .decimal128(let id): add(id.bytes)
    case .link(let row): add(row)
    case .typedLink(let table, let row):
      add(UInt64(table))
      add(row)
    case .map(let map, _):
      add(UInt64(map.count))
      for (key, value) in zip(map.keys, map.values) {
        add(Array(key.utf8))
        add(value)
      }
    case .list(let elements, _):
      add(UInt64(elements.count))
      for element in elements { add(element) }
    }
  }
}
