import RealmInterchange
import RealmStorage
import Testing

@Suite struct DateTextTests {
  @Test func `known dates have their text`() {
    let known: [(Timestamp, String)] = [
      (Timestamp(seconds: 0), "1970-01-01T00:00:00Z"),
      (Timestamp(seconds: -1), "1969-12-31T23:59:59Z"),
      (Timestamp(seconds: 951_782_400), "2000-02-29T00:00:00Z"),
      (Timestamp(seconds: 1_580_472_000, nanoseconds: 250_000_000), "2020-01-31T12:00:00.250000000Z"),
      (Timestamp(seconds: 253_402_300_799, nanoseconds: 999_999_999), "9999-12-31T23:59:59.999999999Z"),
      (Timestamp(seconds: -62_167_219_200), "0000-01-01T00:00:00Z"),
    ]
    for (moment, text) in known {
      #expect(DateText.text(moment) == text)
      #expect(DateText.moment(text) == moment)
    }
    #expect(DateText.text(Timestamp(seconds: 253_402_300_800)) == nil)
    #expect(DateText.text(Timestamp(seconds: -62_167_219_201)) == nil)
    #expect(DateText.text(Timestamp(seconds: .max)) == nil)
    #expect(DateText.text(Timestamp(seconds: .min)) == nil)
  }

  @Test func `each date of ten millennia is read from its text`() throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      let moment = Timestamp(
        seconds: Int64.random(in: -62_167_219_200...253_402_300_799, using: &random),
        nanoseconds: Bool.random() ? 0 : Int32.random(in: 0..<1_000_000_000, using: &random))
      let text = try #require(DateText.text(moment), "\(moment)")
      #expect(DateText.moment(text) == moment, "\(text)")
    }
  }

  @Test func `texts that are not dates are refused`() {
    for text in [
      "", "2020", "2020-01-31", "2020-02-30T00:00:00Z", "2020-01-31T24:00:00Z", "2020-01-31T12:00:00",
      "2020-01-31T12:00:00.Z", "2020-01-31T12:00:00Z ", "+020-01-31T12:00:00Z", "2020-01-31T12:00:00+24:00",
    ] {
      #expect(DateText.moment(text) == nil, "\(text)")
    }
  }
}
