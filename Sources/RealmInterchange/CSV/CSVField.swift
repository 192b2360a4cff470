/// The form of fields of CSV. A text stands as it is, null is an empty field, and an empty text is two quotation marks. Dates are ISO 8601, data is base64,
/// and links are primary keys. Lists, maps, embedded objects and values of any type are JSON.
package enum CSVField {
  /// The field as it is written by RFC 4180: a field that has the delimiter, a quotation mark or a line's end in it stands in quotation marks.
  ///
  /// The function compares bytes and not characters, because a combining mark behind a quotation mark makes one character of both. A field that begins with a byte
  /// order mark stands in quotation marks, too, so that no reader drops the mark.
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
