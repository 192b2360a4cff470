import Definition
import RealmFuzzSupport
import RealmServer

/// The reader of the file that defines an app, with the predicates in it.
enum DefinitionDecoder {
  static var decoder: FuzzedDecoder {
    FuzzedDecoder("definition", quick: 300) {
      let texts = [AppDefinition.sample, AppDefinition.development(id: "tasks")]
      let made = texts.map { Array($0.utf8) }
      return FuzzedDecoder.Trial(
        samples: try made + NetworkFuzz.kept.samples("definition"),
        mutator: ByteMutator(.text(words: words)), memory: MemoryBound(constant: 16 << 20, perByte: 40_000)
      ) { bytes, _ in
        let text = String(decoding: bytes, as: UTF8.self)
        let app: AppDefinition
        do throws(DefinitionProblems) {
          app = try AppDefinition.read(text, file: "app.yaml", checkPredicate: problem)
        } catch {
          try check(error, text)
          return false
        }
        guard (1...64).contains(app.id.utf8.count), app.fields.count <= 200, app.rights.count <= 200 else {
          throw FuzzFailure("a definition is accepted that is too large")
        }
        return true
      }
    }
  }

  private static let words = [
    "&a", "*a", "!", "|", ">", "'", "\"", "\\", "[", "]", "{", "}", ":", ": ", "- ", "? ", "#", " #", ",",
    "\n", "\n  ", "\t", "\r", "~", "---\n", "...\n", "%YAML 1.1\n", "<<: ", "= ", "true", "$partition",
    "$user.id", "id: b\n", "rights:\n", "fields:\n", "read: ", "write: ", " 30 days", " 2 GiB",
    "IN ", "AND ", "(", ")",
  ]

  private static func problem(_ text: String, _ table: String, _ fields: [String]) -> String? {
    SyncAppSettings.problem(inRight: text, of: table, fields: fields)
  }

  /// Checks that problems have places in the text and a remedy.
  private static func check(_ error: DefinitionProblems, _ text: String) throws {
    let breaks = text.unicodeScalars.filter { $0 == "\n" }.count
    let lines = text.unicodeScalars.last == "\n" ? breaks : breaks + 1
    guard !error.problems.isEmpty else { throw FuzzFailure("a definition is refused without a problem") }
    for problem in error.problems {
      guard (1...lines).contains(problem.line), problem.column >= 1, !problem.what.isEmpty,
        !problem.remedy.isEmpty
      else { throw FuzzFailure("a problem is not in the text, or says nothing: \(problem)") }
    }
  }
}
