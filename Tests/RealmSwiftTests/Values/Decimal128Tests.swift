import Foundation
import Testing

@testable import RealmSwift

private class Account: Object {
  @Persisted(primaryKey: true) var name: String
  @Persisted var balance: Decimal128
  @Persisted var limit: Decimal128?
}

@Suite struct Decimal128Tests {
  @Test func `literals make decimals`() {
    let (whole, fraction, text): (Decimal128, Decimal128, Decimal128) = (3, 1.5, "-0.10")
    #expect(whole == Decimal128(integerLiteral: 3) && fraction == Decimal128(floatLiteral: 1.5))
    #expect(text == Decimal128(stringLiteral: "-0.1"))
  }

  @Test func `sums of money come out to the cent`() {
    let tenth: Decimal128 = 0.1
    #expect(tenth + 0.2 == 0.3 && (1...10).reduce(0) { sum, _ in sum + tenth } == 1)
    #expect(Decimal128("19.99") * 3 - "0.07" == 59.9 && Decimal128(1) / 8 == 0.125)
    #expect((Decimal128(2) / 3).stringValue == "0.6666666666666666666666666666666667")
    var number: Decimal128 = 5
    number *= 2
    number /= 4
    number += 1
    number.negate()
    #expect(number == -3.5 && -number == 3.5 && number.magnitude == 3.5 && abs(number) == 3.5)
    #expect(tenth.decimalNumber(byAdding: 1) == 1.1 && tenth.decimalNumber(bySubtracting: 1) == -0.9)
    #expect(tenth.decimalNumberByMultiplying(by: 4) == 0.4 && tenth.decimalNumberByDividing(by: 4) == 0.025)
    #expect(Decimal128(1).distance(to: 3) == 2 && Decimal128(1).advanced(by: -1) == 0)
  }

  @Test func `equal numbers have one text, without zeros at the end of the digits and without a plus`() throws
  {
    let realm = try Realm(
      configuration: .init(inMemoryIdentifier: UUID().uuidString, objectTypes: [Account.self]))
    let texts: [(Decimal128, String)] = [
      ((1.234567 as Decimal128) + 9.876543, "11.11111"), ((2.5 as Decimal128) - 3.5, "-1"),
      (Decimal128("1.20") * "2", "2.4"), (Decimal128("1.20") * "2.0", "2.4"),
      (Decimal128("2.40") / "2", "1.2"),
      (Decimal128("2.40") / "0.2", "12"), (Decimal128("1") / "4", "0.25"),
      (Decimal128("1.5E2") + "1", "151"),
      (150, "1.5E2"), ("150", "1.5E2"), ("150.0", "1.5E2"), ("1.5E2", "1.5E2"), ("15E1", "1.5E2"),
      ("1E+3", "1E3"), ("151", "151"), ("1050.50", "1050.5"),
      ("0.000001", "0.000001"), ("0.0000001", "1E-7"), ("0.00000010", "1E-7"), ("0E+2", "0"),
      ("-0.00", "-0"),
      ("Infinity", "Infinity"), ("-inf", "-Infinity"), ("nan", "NaN"),
    ]
    for (number, text) in texts {
      #expect(number.stringValue == text && number.description == text)
      let coded = try JSONEncoder().encode([number])
      #expect(String(decoding: coded, as: UTF8.self) == "[\"\(text)\"]")
      #expect(try JSONDecoder().decode([Decimal128].self, from: coded)[0].stringValue == text)
      #expect(try Decimal128(string: text).stringValue == text)
      let account = try realm.write {
        realm.create(Account.self, value: ["name": text, "balance": number] as [String: Any], update: .all)
      }
      #expect(account.balance.stringValue == text, "as it was stored")
    }
  }

  @Test func `numbers are equal by value, and NaN equals nothing`() throws {
    let (short, long): (Decimal128, Decimal128) = ("1.5", "1.500")
    #expect(short == long && short.hashValue == long.hashValue && short.stringValue == long.stringValue)
    #expect(Decimal128() == "-0" && Set<Decimal128>(["0", "-0", "0E+5"]).count == 1)
    let nan = try Decimal128(string: "NaN")
    #expect(nan.isNaN && nan != nan && !(nan < 1) && !(nan > 1) && !(nan <= nan) && !(nan >= nan))
    #expect(!nan.isSignaling && !nan.isSignalingNaN && (Decimal128(0) / 0).isNaN)
    #expect(short < 2 && short <= long && short > -2 && short >= long)
    #expect(short.isLessThan(2) && short.isLessThanOrEqual(to: long))
    #expect(short.isGreaterThan(1) && short.isGreaterThanOrEqual(to: long))
    #expect(Decimal128.min < -1e300 && Decimal128.max > 1e300 && Decimal128.max + 1 == .max)
    #expect(Decimal128.max * 10 == (try Decimal128(string: "Infinity")))
  }

  @Test func `numbers of other types become decimals, and decimals become other numbers`() throws {
    #expect(Decimal128(value: 5) == 5 && Decimal128(value: UInt64.max).stringValue == "18446744073709551615")
    #expect(
      Decimal128(value: "1.5") == 1.5 && Decimal128(value: Float(0.1)) == 0.1 && Decimal128(value: 0.1) == 0.1
    )
    #expect(
      Decimal128(value: Decimal(string: "0.007")!) == 0.007 && Decimal128(value: Decimal128.max) == .max)
    #expect(
      Decimal128(number: 3.25) == 3.25
        && Decimal128(number: NSNumber(value: Int64.min)).doubleValue == -0x1p63)
    let precise = NSDecimalNumber(string: "1234567890.12345678901234")
    #expect(Decimal128(number: precise).stringValue == "1234567890.12345678901234")
    #expect(Decimal128(exactly: 12) == 12 && Decimal128(exactly: UInt128.max) == nil)
    #expect(
      Decimal128("2.50").decimalValue == Decimal(string: "2.5") && Decimal128("2.50").doubleValue == 2.5)
    #expect(Decimal128.max.doubleValue == .infinity && (Decimal128(0) / 0).doubleValue.isNaN)
    let error = #expect(throws: Realm.Error.self) { try Decimal128(string: "1,5") }
    #expect(error?.code == .invalidInput && error?.localizedDescription.contains("'1,5'") == true)
  }

  @Test func `a decimal is coded as its text, and read from numbers too`() throws {
    let numbers: [Decimal128] = ["1.50", "-0", .max]
    let json = try JSONEncoder().encode(numbers)
    #expect(String(decoding: json, as: UTF8.self).contains("\"1.5\""))
    #expect(
      try JSONDecoder().decode([Decimal128].self, from: json).map(\.stringValue) == numbers.map(\.stringValue)
    )
    #expect(try JSONDecoder().decode([Decimal128].self, from: Data("[7, 0.1, \"2\"]".utf8)) == [7, 0.1, 2])
    #expect(throws: Realm.Error.self) {
      try JSONDecoder().decode([Decimal128].self, from: Data(#"["x"]"#.utf8))
    }
  }

  @Test func `objects are queried, sorted and summed by decimals`() throws {
    let realm = try memoryRealm([Account.self])
    let balances: [Decimal128] = ["0.10", "-5", "0.1", "1E+3", "12345678901234567890.12", "0", "NaN"]
    try realm.write {
      for (number, balance) in balances.enumerated() {
        realm.create(
          Account.self,
          value: ["name": "\(number)", "balance": balance, "limit": (number < 3 ? balance : nil) as Any])
      }
    }
    let accounts = realm.objects(Account.self)
    #expect(accounts.where { $0.balance == 0.1 }.count == 2)
    #expect(accounts.where { $0.balance > 0 }.count == 4 && accounts.where { $0.balance < 0 }.count == 1)
    #expect(accounts.where { $0.limit == nil }.count == 4)
    #expect(accounts.where { $0.balance.contains(-5...0) }.count == 2)
    #expect(
      accounts.sorted(byKeyPath: "balance").map(\.name) == ["6", "1", "5", "0", "2", "3", "4"])
    #expect(accounts.sum(of: \.balance).stringValue == "12345678901234568885.32")
    #expect(accounts.sum(of: \.limit) == -4.8)
    #expect(accounts.average(of: \.limit) == -1.6)
    #expect(accounts.min(of: \.balance) == -5 && accounts.max(of: \.balance) == "12345678901234567890.12")
    #expect(accounts.where { $0.name == "none" }.average(of: \.balance) == nil)
    #expect(accounts[0].description.contains("balance = 0.1;"))
  }
}
