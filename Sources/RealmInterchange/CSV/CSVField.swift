/// Fields of CSV: texts as they are, null as nothing, an empty text as two quotation marks, dates as ISO 8601, data as base64, links as primary keys;
/// lists, maps, embedded objects and values of any type as JSON.
package enum CSVField {
  /// By RFC 4180: what has the delimiter, a quotation mark or a line's end in it stands in quotation marks. Bytes are looked at: a mark behind a
  /// quotation mark makes one character of both.
  package static func quoted(_ field: String, delimiter: UInt8 = UInt8(ascii: ",")) -> String {
    guard
      field.utf8.starts(with: [0xef, 0xbb, 0xbf])
        || field.utf8.contains(where: { $0 == delimiter || [0x22, 0x0a, 0x0d].contains($0) })
    else {
      return field
    }
    var bytes: [UInt8] = [0x22]
    for byte in field.utf8 {
      if byte == 0x22 { bytes.append(0x22) }
      bytes.append(byte)
    }
    return String(decoding: bytes + [0x22], as: UTF8.self)
  }
}
