import Accounts
import Foundation
import RealmInterchange
import RealmStorage

/// The data of a user that the rights of an app may refer to: the roles, and the fields of the custom data.
struct UserData: Sendable, Equatable {
  private(set) var values: [String: [Value]] = [:]

  /// The greatest number of names, and of values of a name, that rights see. The others are left out.
  private static let most = 1000

  /// - Parameter customData: the text of a JSON object. Another text counts as an empty object.
  init(roles: [String], customData: String?) {
    if !roles.isEmpty { values["roles"] = roles.prefix(Self.most).map { .string($0) } }
    guard let bytes = customData?.data(using: .utf8),
      let object = try? JSONDecoder.decode([String: Part].self, fromOthers: bytes)
    else { return }
    for (name, part) in object.sorted(by: { $0.key < $1.key }).prefix(Self.most) {
      values["custom_data." + name] = Array(part.values.prefix(Self.most))
    }
  }

  /// A value of JSON. Rights do not see objects in it, and lists in lists.
  private enum Part: Decodable {
    case one(Value)
    case several([Value])
    case none

    var values: [Value] {
      switch self {
      case .one(let value): [value]
      case .several(let values): values
      case .none: []
      }
    }

    init(from decoder: any Decoder) throws {
      if let single = try? decoder.singleValueContainer(), let value = Self.value(single) {
        self = .one(value)
      } else if let parts = try? [Part](from: decoder) {
        self = .several(parts.compactMap { if case .one(let value) = $0 { value } else { nil } })
      } else {
        self = .none
      }
    }

    private static func value(_ container: any SingleValueDecodingContainer) -> Value? {
      if container.decodeNil() { return .null }
      if let flag = try? container.decode(Bool.self) { return .bool(flag) }
      if let number = try? container.decode(Int64.self) { return .int(number) }
      if let number = try? container.decode(Double.self) { return .double(number) }
      if let text = try? container.decode(String.self) { return .string(text) }
      return nil
    }
  }
}
