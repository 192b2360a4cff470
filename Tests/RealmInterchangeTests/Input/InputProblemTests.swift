import RealmInterchange
import Testing

@Suite struct InputProblemTests {
  @Test func `a problem shows its line and column, and its property and value if it has them`() {
    let reason = "is no whole number."
    #expect(
      InputProblem(line: 3, column: 7, property: "age", value: "\"x\"", reason).description
        == #"line 3, column 7: age "x" is no whole number."#)
    #expect(
      InputProblem(line: 3, column: 7, property: "age", "is missing.").description
        == "line 3, column 7: age is missing.")
    #expect(InputProblem(line: 1, column: 1, "It is empty.").description == "line 1, column 1: It is empty.")
  }

  @Test func `a long value is cut short`() {
    let value = String(repeating: "y", count: 61)
    let text = InputProblem(line: 1, column: 1, value: value, "is long.").description
    #expect(text == "line 1, column 1: " + String(repeating: "y", count: 59) + "… is long.")
  }
}
