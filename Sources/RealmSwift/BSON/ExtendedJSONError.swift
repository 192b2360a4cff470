/// Why bytes are no extended JSON.
package struct ExtendedJSONError: Error, Equatable {
  enum Reason: Equatable {
    /// The bytes are no JSON text.
    case noJSON(missing: String, offset: Int)
    /// More documents and arrays than `ExtendedJSON.mostLevels` stand in each other.
    case tooDeep
    /// A form such as `$date` has another content than it takes.
    case wrongForm(String, expected: String)
    /// No double is near to the number.
    case numberTooGreat
  }

  let reason: Reason
  /// The keys and the places in arrays that lead to the fault, as in `a.b[3]`. It is empty for the outermost value, and where
  /// the text is not read to its end.
  let path: String

  init(_ reason: Reason, path: String = "") {
    self.reason = reason
    self.path = path
  }
}

extension ExtendedJSONError: CustomStringConvertible {
  /// What is wrong, where it is, and what is to be done. The values of the text are not in it, but keys are.
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
