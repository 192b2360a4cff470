import RealmInterchange
import Testing

@Suite struct CSVFieldTests {
  @Test func `only fields with a delimiter, a quotation mark or a line end are quoted`() {
    for (field, quoted) in [
      ("", ""), ("a", "a"), (" a ", " a "), ("a;b", "a;b"), ("'a'", "'a'"), ("a,b", "\"a,b\""),
      ("a\"b", "\"a\"\"b\""), ("a\nb", "\"a\nb\""), ("a\r", "\"a\r\""), ("a\r\nb", "\"a\r\nb\""),
      ("\"\u{301}", "\"\"\"\u{301}\""), (",\u{301}", "\",\u{301}\""),
    ] {
      #expect(CSVField.quoted(field).utf8.elementsEqual(quoted.utf8), "\(JSON.string(field))")
    }
    #expect(CSVField.quoted("a;b", delimiter: UInt8(ascii: ";")) == "\"a;b\"")
    #expect(CSVField.quoted("a,b", delimiter: UInt8(ascii: ";")) == "a,b")
  }
}
