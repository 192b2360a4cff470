/// Why bytes are not valid Extended JSON.
package struct ExtendedJSONError: Error, Equatable {
  enum Reason: Equatable {
    /// The bytes are not a JSON text.
    case noJSON(missing: String, offset: Int)
    /// Documents and arrays are nested deeper than `ExtendedJSON.mostLevels`.
    case tooDeep
    /// A form such as `$date` has content of the wrong kind.
    case wrongForm(String, expected: String)
    /// The number is too large for a double.
    case numberTooGreat
  }

  let reason: Reason
  /// The keys and array positions that lead to the fault, such as `a.b[3]`. It is empty for the outermost value, and if the text
  /// could not be read to its end.
  let path: String

  init(_ reason: Reason, path: String = "") {
    self.reason = reason
    self.path = path
  }
}

extension ExtendedJSONError: CustomStringConvertible {
  /// What is wrong, where it is, and what to do about it. The message may have keys of the text, but no values.
  package var description: String {
    let place = path.isEmpty ? "in the outermost value" : "at \(path)"
    return switch reason {
    case .noJSON(let missing, let offset):
      "The text is no JSON: \(missing) is missing at byte \(offset). Send a text as RFC 8259 describes it."
    case .tooDeep:
      "The JSON text has more than \(ExtendedJSON.mostLevels) documents and arrays that stand in each other. "
        + "Send one that is flatter."
    case .wrongForm(let form, let expected):
      "The extended JSON has a wrong \(form) \(place): it takes \(expected), and no key beside it. "
        + "Correct the sender."
    case .numberTooGreat:
      "The JSON text has a number \(place) that is too great for a double. Send it as $numberDecimal."
    }
  }
}
