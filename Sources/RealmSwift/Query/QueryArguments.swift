import Foundation
import RealmQuery
import RealmStorage

extension RealmSession {
  /// Converts a value of the program to an argument of a query. A value that realms can't store stops the program.
  func argument(of any: Any?) -> QueryArgument {
    guard let any, !isNull(any) else { return .value(.null) }
    switch any {
    case let object as ObjectBase: return argument { row in row(object).map { .link($0) } ?? .null }
    case let text as String: return .value(.string(text))
    case let value as AnyRealmValue: return argument { value._stored($0) }
    case let value as any _Persistable: return flat(argument { value._stored($0) })
    case let number as NSNumber:
      if let value = AnyRealmValue._converted(number) { return argument { value._stored($0) } }
    case let values as any Sequence: return .list(list(values))
    default:
      if let value = AnyRealmValue._converted(any) { return flat(argument { value._stored($0) }) }
    }
    raise(
      "Invalid argument",
      "a \(type(of: any)) is no value that a query can compare with; give it a number, a text, data, a date, an id, an object, or an array of such."
    )
  }

  /// Splits a list of values into several arguments.
  private func flat(_ argument: QueryArgument) -> QueryArgument {
    guard case .value(.list(let elements, _)) = argument else { return argument }
    return .list(elements.map { .value($0) })
  }

  private func list<Values: Sequence>(_ values: Values) -> [QueryArgument] {
    values.map { argument(of: $0) }
  }
}
