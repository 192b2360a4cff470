import Foundation
import RealmSwift
import Testing

extension MisuseTests {
  @Test("An invalid literal of an id or a decimal is reported")
  func literals() {
    expectStop(["Invalid Decimal128", "'1,5'", "-1.50"]) { _ = Decimal128("1,5") }
    expectStop(["Invalid Decimal128", "true of type Bool"]) { _ = Decimal128(value: true) }
    expectStop(["Invalid value", "Everything.decimal"]) { _ = Everything(value: ["decimal": "1,5"]) }
    expectStop(["Invalid ObjectId", "'0123'", "24 hexadecimal digits"]) { _ = ObjectId("0123") }
    expectStop(["Invalid value", "Everything.objectId", "ObjectId"]) {
      _ = Everything(value: ["objectId": "0123456789abcdef01234567"])
    }
  }
}
