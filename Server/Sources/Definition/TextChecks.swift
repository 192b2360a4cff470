/// The checks of the text before it is read as YAML.
extension DefinitionText {
  /// The greatest number of problems with characters that are reported. It is limited because a file of another kind
  /// has them everywhere.
  private static let mostProblems = 20

  /// Reports tabs before a line, and characters that can't be seen.
  ///
  /// Characters that can't be seen are those that YAML does not have, and line breaks that most editors do not show as
  /// such. With these YAML would count more lines than people do.
  func checkCharacters(_ problems: inout ProblemList) {
    var isIndentation = true
    for (offset, scalar) in scalars.enumerated() {
      guard problems.found.count < Self.mostProblems else { return }
      switch scalar {
      case "\n": isIndentation = true
      case " ": break
      case "\r" where offset + 1 < scalars.count && scalars[offset + 1] == "\n": break
      case "\t":
        if isIndentation {
          problems.add(at: place(of: offset), "A tab stands before this line.", "Indent with blanks.")
        }
        isIndentation = false
      default:
        isIndentation = false
        guard Self.isRefused(scalar) else { continue }
        let number = String(scalar.value, radix: 16, uppercase: true)
        let zeros = String(repeating: "0", count: max(0, 4 - number.utf8.count))
        problems.add(
          at: place(of: offset), "The character U+\(zeros)\(number) can't be seen.",
          "Remove it. Lines end with a line feed, or a carriage return and a line feed.")
      }
    }
  }

  private static func isRefused(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF: true
    default: false
    }
  }

  /// Reports `*name` if `&name` stands somewhere in the text.
  ///
  /// The reader of YAML copies what such an alias stands for, and a short text can make it copy without end. That is
  /// why aliases are searched before. The search includes quotes and comments, which hardly ever have both signs with
  /// the same name.
  func checkAliases(_ problems: inout ProblemList) {
    let anchors = Set(names(behind: "&").map(\.name))
    guard !anchors.isEmpty else { return }
    for (name, offset) in names(behind: "*") where anchors.contains(name) {
      guard problems.found.count < Self.mostProblems else { return }
      problems.add(at: place(of: offset), Self.aliasProblem, Self.aliasRemedy)
    }
  }

  static let aliasProblem = "Definitions have no anchors and aliases (`&name` and `*name`)."
  static let aliasRemedy =
    "Write the value out wherever it is needed, and put a text that begins with & or * into quotes."

  /// The names that stand behind a sign, with the offsets of the signs. A sign behind the same sign does not
  /// count: the text `a &&b` has no anchor.
  private func names(behind sign: Unicode.Scalar) -> [(name: String, offset: Int)] {
    var names: [(name: String, offset: Int)] = []
    for (offset, scalar) in scalars.enumerated() where scalar == sign {
      guard offset == 0 || scalars[offset - 1] != sign else { continue }
      let name = scalars[(offset + 1)...].prefix { Self.isOfAnchors($0) }
      guard !name.isEmpty else { continue }
      names.append((String(String.UnicodeScalarView(name)), offset))
    }
    return names
  }

  private static func isOfAnchors(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "a"..."z", "A"..."Z", "0"..."9", "_", "-": true
    default: false
    }
  }
}
