/// The form of fields of CSV. A string is written as it is, null is an empty field, and an empty string is two
/// quotation marks. Dates are ISO 8601, data is base64, and links are primary keys. Collections, embedded objects and
/// values of any type are JSON.
package enum CSVField {
  /// The field as RFC 4180 writes it: a field with a delimiter, a quotation mark or a line's end in it is enclosed in
  /// quotation marks.
  ///
  /// The function compares bytes and not characters, because a quotation mark and a combining mark behind it are one
  /// character. A field that begins with a byte order mark is enclosed in quotation marks, too, so that no reader drops
  /// the mark.
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
