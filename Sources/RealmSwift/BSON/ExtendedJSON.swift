import Foundation
import RealmStorage
import RealmInterchange

/// Reads and writes Extended JSON, version 2: JSON texts that keep the types of BSON. A whole number of 64 bits is
/// `{"$numberLong":"5"}`, for example.
///
/// Texts are written in the canonical form: each number has its type, the keys of documents are sorted by their bytes, and there
/// are no spaces. Equal values have the same text, apart from the sign of zeros and the trailing zeros of decimals.
///
/// A text can say more than a value. The subtype of bytes is written as 00, and is lost when it is read. The count of a timestamp
/// is written as 0, and is lost when it is read. A document with one of the keys of `ExtendedJSONReader.Form` is written like any
/// other, but is read as the form of that key, or as an error.
package enum ExtendedJSON {
  /// The deepest nesting of documents and arrays in a text that is read.
  static let mostLevels = 100

  static func data(_ value: AnyBSON) -> Data { Data(text(value).utf8) }

  package static func text(_ value: AnyBSON) -> String {
    var text = ""
    append(value, to: &text)
    return text
  }

  /// Reads a text in the canonical or the relaxed form. The relaxed form may have plain numbers: one that has only digits and a
  /// sign and fits 64 bits becomes an `int64`, others become a `double`.
  ///
  /// Null in a document or an array becomes `AnyBSON.null`. If a key stands several times, its last value is kept.
  package static func read(_ data: Data) throws(ExtendedJSONError) -> AnyBSON {
    // The innermost value may be a form with two levels, such as a date.
    let json: JSONNode
    do throws(JSONSyntaxError) {
      json = try JSONParser.value(
        of: Array(data), mostLevels: mostLevels + 2, allowsRepeatedNames: true, mostValues: .max)
    } catch {
      throw ExtendedJSONError(
        error.isRefused ? .tooDeep : .noJSON(missing: error.missing, offset: error.offset))
    }
    var reader = ExtendedJSONReader()
    return try reader.value(JSONValue(json))
  }

  // MARK: - Writing

  private static func append(_ value: AnyBSON, to text: inout String) {
    switch value {
    case .null: text += "null"
    case .bool(let flag): text += flag ? "true" : "false"
    case .string(let string): text += quoted(string)
    case .int32(let number): text += #"{"$numberInt":"\#(number)"}"#
    case .int64(let number): text += #"{"$numberLong":"\#(number)"}"#
    case .double(let number): text += #"{"$numberDouble":"\#(plain(number))"}"#
    case .decimal128(let number): text += #"{"$numberDecimal":"\#(number.number.text)"}"#
    case .objectId(let id): text += #"{"$oid":"\#(id.stringValue)"}"#
    case .datetime(let date): text += #"{"$date":{"$numberLong":"\#(date.milliseconds)"}}"#
    case .timestamp(let date): text += #"{"$timestamp":{"t":\#(date.logSeconds),"i":0}}"#
    case .binary(let data): text += binary(data, subType: "00")
    case .uuid(let id): text += binary(Data(id.bytes), subType: "04")
    case .regex(let expression):
      let (pattern, options) = (quoted(expression.patternForBSON), quoted(expression.optionsForBSON))
      text += #"{"$regularExpression":{"pattern":\#(pattern),"options":\#(options)}}"#
    case .minKey: text += #"{"$minKey":1}"#
    case .maxKey: text += #"{"$maxKey":1}"#
    case .array(let values): append(values, to: &text)
    case .document(let document): append(document, to: &text)
    }
  }

  private static func append(_ values: [AnyBSON?], to text: inout String) {
    text += "["
    for (index, value) in values.enumerated() {
      if index > 0 { text += "," }
      append(value ?? .null, to: &text)
    }
    text += "]"
  }

  private static func append(_ document: Document, to text: inout String) {
    let members = document.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    text += "{"
    for (index, member) in members.enumerated() {
      if index > 0 { text += "," }
      text += quoted(member.key) + ":"
      append(member.value ?? .null, to: &text)
    }
    text += "}"
  }

  private static func binary(_ data: Data, subType: String) -> String {
    #"{"$binary":{"base64":"\#(data.base64EncodedString())","subType":"\#(subType)"}}"#
  }

  private static func plain(_ number: Double) -> String {
    if number.isNaN { return "NaN" }
    if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
    return number.description
  }

  /// The text as a JSON string, with quotation marks and escapes.
  static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += #"\""#
      case "\\": quoted += #"\\"#
      case "\u{8}": quoted += #"\b"#
      case "\u{c}": quoted += #"\f"#
      case "\n": quoted += #"\n"#
      case "\r": quoted += #"\r"#
      case "\t": quoted += #"\t"#
      case _ where scalar.value < 0x20:
        let digits = String(scalar.value, radix: 16)
        quoted += #"\u"# + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}

extension AnyBSON {
  /// Reads a JSON text with plain numbers or forms of Extended JSON; nil if the bytes are not one.
  init?(relaxedJSON data: Data) {
    guard let value = try? ExtendedJSON.read(data) else { return nil }
    self = value
  }
}
