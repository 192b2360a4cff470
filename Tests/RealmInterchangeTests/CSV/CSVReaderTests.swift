import RealmInterchange
import RealmTestSupport
import Testing

@Suite struct CSVReaderTests {
  /// A record or a problem.
  private enum Found {
    case record(CSVReader.Record)
    case problem(InputProblem)

    var texts: [String]? { if case .record(let record) = self { record.fields.map(\.text) } else { nil } }
    var problem: InputProblem? { if case .problem(let problem) = self { problem } else { nil } }
  }

  /// All records and problems of an input. The function records an issue and stops if the input does not end.
  private func read(_ bytes: [UInt8], delimiter: UInt8 = UInt8(ascii: ",")) throws -> [Found] {
    try withInput(bytes) { input in
      let reader = CSVReader(input, delimiter: delimiter)
      var found: [Found] = []
      while found.count <= bytes.count + 1 {
        do {
          guard let record = try reader.next() else { return found }
          found.append(.record(record))
        } catch let problem as InputProblem {
          found.append(.problem(problem))
        }
      }
      Issue.record("the reader does not end")
      return found
    }
  }

  private func read(_ text: String, delimiter: UInt8 = UInt8(ascii: ",")) throws -> [Found] {
    try read(Array(text.utf8), delimiter: delimiter)
  }

  // MARK: - What is read

  @Test func `fields are between delimiters, and quotation marks keep all characters between them`() throws {
    for (text, expected) in [
      ("", []), ("a", [["a"]]), ("a,b\n", [["a", "b"]]), ("a,b\r\nc,d", [["a", "b"], ["c", "d"]]),
      (",\n", [["", ""]]), ("\"\"\n", [[""]]), ("\n\r\n\na\n\n", [["a"]]), (" a , b\n", [[" a ", " b"]]),
      ("\"a,b\",\"c\nd\",\"e\r\nf\"\n", [["a,b", "c\nd", "e\r\nf"]]),
      ("\"a\"\"b\",\"\"\"\"\n", [["a\"b", "\""]]), ("\"a\"\r\nb", [["a"], ["b"]]),
      ("é;x,ü\n", [["é;x", "ü"]]),
      ("'a,b'\n", [["'a", "b'"]]), ("a,\"\"", [["a", ""]]),
      ("\"a\"\rb\n", [["a"], ["b"]]), ("a\rb,c\r\rd", [["a"], ["b", "c"], ["d"]]),
    ] as [(String, [[String]])] {
      let found = try read(text)
      #expect(found.map(\.texts) == expected, "\(JSON.string(text))")
    }
  }

  @Test func `a part of a wrong record is never read as another record`() throws {
    for wrong in [[UInt8](arrayLiteral: 0xff), Array("a\"b".utf8), Array("\"a\"b".utf8)] {
      let found = try read(
        Array("n,m\n".utf8) + wrong + Array(",\"first\nMallory,owns\nend\"\nBob,ok\n".utf8))
      #expect(found.map(\.texts) == [["n", "m"], nil, ["Bob", "ok"]])
      #expect(found[1].problem?.line == 2)
    }
  }

  @Test func `an empty field is null, and a quoted empty field is an empty text`() throws {
    let found = try read("a,,\"\",\n")
    guard case .record(let record)? = found.first else { return #expect(Bool(false), "no record") }
    #expect(record.fields.map(\.isNull) == [false, true, false, true])
    #expect(record.fields.map(\.isQuoted) == [false, false, true, false])
  }

  @Test func `other delimiters leave commas in fields`() throws {
    let semicolons = try read("a,b;\"c;d\";e\n", delimiter: UInt8(ascii: ";"))
    #expect(semicolons.map(\.texts) == [["a,b", "c;d", "e"]])
    let tabs = try read("a,b\tc;d\n", delimiter: UInt8(ascii: "\t"))
    #expect(tabs.map(\.texts) == [["a,b", "c;d"]])
  }

  @Test func `a byte order mark at the start is skipped and counts for no column`() throws {
    let found = try read("\u{feff}a,b\"c\nd,e\n")
    #expect(found.map(\.texts) == [nil, ["d", "e"]])
    #expect(found.first?.problem?.column == 4)
    let quoted = try read("\u{feff}\"a,b\",c\n")
    #expect(quoted.map(\.texts) == [["a,b", "c"]])
  }

  @Test func `a first character with the first bytes of a byte order mark is kept`() throws {
    let found = try read("\u{ff4e}\u{ff41}me,b\nc,d\n")
    #expect(found.map(\.texts) == [["\u{ff4e}\u{ff41}me", "b"], ["c", "d"]])
  }

  private struct Written {
    var text: String
    var isQuoted: Bool
    var line: Int
    var column: Int
  }

  @Test(arguments: Slow.seeds(6, slow: 200))
  func `random records are read as they were written, with the places of their fields`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let delimiter = Array(",;\t|".utf8)[generator.below(4)]
    let end = Array(["\n", "\r\n", "\r"][generator.below(3)].utf8)
    var bytes: [UInt8] = []
    var (line, start) = (1, 0)
    func endLine() {
      bytes += end
      (line, start) = (line + 1, bytes.count)
    }
    var records: [[Written]] = []
    for number in 0..<60 {
      if generator.chance(10) { endLine() }
      var fields: [Written] = []
      let count = 1 + generator.below(5)
      for place in 0..<count {
        var text = generator.text(8)
        // A byte order mark at the start would be skipped.
        if bytes.isEmpty { text = "x" + text }
        var written = CSVField.quoted(text, delimiter: delimiter)
        if (text.isEmpty && (count == 1 || generator.chance(50))) || (generator.chance(10) && written == text)
        {
          written = "\"" + text + "\""
        }
        fields.append(
          Written(
            text: text, isQuoted: written.utf8.first == 0x22, line: line, column: bytes.count - start + 1))
        for byte in written.utf8 {
          bytes.append(byte)
          if byte == 0x0a { (line, start) = (line + 1, bytes.count) }
        }
        if place < count - 1 { bytes.append(delimiter) }
      }
      records.append(fields)
      if number < 59 || generator.chance(50) { endLine() }
    }
    let found = try read(bytes, delimiter: delimiter)
    #expect(found.count == records.count, "seed \(seed)")
    for (number, (one, fields)) in zip(found, records).enumerated() {
      guard case .record(let record) = one else {
        Issue.record("seed \(seed), record \(number): \(one.problem?.description ?? "")")
        return
      }
      #expect(record.fields.count == fields.count, "seed \(seed), record \(number)")
      for (field, written) in zip(record.fields, fields) {
        #expect(field.text.utf8.elementsEqual(written.text.utf8), "seed \(seed), record \(number)")
        #expect(field.isQuoted == written.isQuoted, "seed \(seed), record \(number)")
        #expect(field.line == written.line, "seed \(seed), record \(number)")
        #expect(field.column == written.column, "seed \(seed), record \(number)")
      }
      #expect(record.line == record.fields.first?.line)
    }
  }

  // MARK: - What is wrong

  @Test func `each problem has its line and its column, and the next record is read`() throws {
    let faults: [(String, Int, Int, String)] = [
      ("a,\"b\"c,d\n", 1, 6, "closing quotation mark"), ("\"a\" ,b\n", 1, 4, "closing quotation mark"),
      ("\"a\"\"b\"\"\"c\n", 1, 9, "closing quotation mark"), ("a,b\"c\n", 1, 4, "not in quotation marks"),
      (" \"a\",b\n", 1, 2, "not in quotation marks"), ("a,b\"\"\n", 1, 4, "not in quotation marks"),
      ("\"a\nb\"c,d\n", 2, 3, "closing quotation mark"),
      ("x,\"\n\n\",y\"\n", 3, 4, "not in quotation marks"),
    ]
    for (fault, line, column, reason) in faults {
      let found = try read("one,two\n" + fault + "three,four\n")
      #expect(found.map(\.texts) == [["one", "two"], nil, ["three", "four"]], "\(JSON.string(fault))")
      let problem = found.compactMap(\.problem).first
      #expect(problem?.line == line + 1, "\(JSON.string(fault))")
      #expect(problem?.column == column, "\(JSON.string(fault))")
      #expect(problem?.reason.contains(reason) == true, "\(JSON.string(fault)): \(problem?.reason ?? "")")
    }
  }

  @Test func `a quotation mark that is not closed ends the reading, and the problem has its place`() throws {
    let error = #expect(throws: InterchangeError.self) { try read("a,b\nc,\"d\ne,f\n") }
    #expect(error?.description.contains("line 2, column 3:") == true)
    #expect(error?.description.contains("no closing quotation mark") == true)
  }

  @Test func `empty lines are records of one field if that is asked for`() throws {
    try withInput("a\n\nb\r\n\r\n\"\"\n") { input in
      let reader = CSVReader(input)
      reader.keepsEmptyLines = true
      var found: [[Bool]] = []
      while let record = try reader.next() { found.append(record.fields.map(\.isNull)) }
      #expect(found == [[false], [true], [false], [true], [false]])
    }
  }

  @Test func `a last field that is not UTF-8 is a problem, and the next record is read`() throws {
    let found = try read(Array("a,".utf8) + [0xff] + Array("\nb,c\n".utf8))
    #expect(found.map(\.texts) == [nil, ["b", "c"]])
    #expect(found.first?.problem?.line == 1)
    #expect(found.first?.problem?.column == 3)
    #expect(found.first?.problem?.reason.contains("UTF-8") == true)
  }

  @Test func `the rest of a line is skipped after a field that is not UTF-8`() throws {
    let found = try read(Array("a,".utf8) + [0xff] + Array(",x,y\nb,c\n".utf8))
    #expect(found.map(\.texts) == [nil, ["b", "c"]])
    #expect(found.first?.problem?.column == 3)
  }

  @Test(arguments: Slow.seeds(4, slow: 200))
  func `random bytes are records or problems, and their lines never go back`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    for number in 0..<60 {
      let marks = Array("a,\"\n\r\"\n,é ".utf8)
      let bytes =
        generator.chance(30)
        ? generator.bytes(generator.below(200))
        : (0..<generator.below(200)).map { _ in marks[generator.below(marks.count)] }
      var lines: [Int] = []
      do {
        lines = try read(bytes).map { found in
          switch found {
          case .record(let record): record.line
          case .problem(let problem): problem.line
          }
        }
      } catch let error as InterchangeError {
        #expect(error.description.contains("no closing quotation mark"), "seed \(seed), input \(number)")
      }
      #expect(lines == lines.sorted(), "seed \(seed), input \(number)")
      #expect(lines.allSatisfy { $0 >= 1 && $0 <= bytes.count + 1 }, "seed \(seed), input \(number)")
    }
  }

  @Test func `a field that is longer than one read is whole`() throws {
    let long = String(repeating: "x\"\r\n,", count: 120_000)
    let found = try read("a," + CSVField.quoted(long) + "\nb,c\n")
    #expect(found.map(\.texts) == [["a", long], ["b", "c"]])
    guard case .record(let last)? = found.last else { return #expect(Bool(false), "no record") }
    #expect(last.line == 120_002)
  }
}
