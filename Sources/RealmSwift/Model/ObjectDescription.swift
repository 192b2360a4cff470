import Foundation

/// Objects and collections as text to read: a property a line, nested to a depth of five.
enum ObjectDescription {
  static let maximumDepth = 5
  static let maximumElements = 100
  static let maximumBytes = 24

  static func text(of object: ObjectBase, depth: Int = maximumDepth) -> String {
    let model = ObjectModel.of(type(of: object))
    if object.isInvalidated { return "[invalid object]" }
    guard depth > 0 else { return "<Maximum depth exceeded>" }
    var text = "\(model.name) {\n"
    for (position, property) in model.properties.enumerated() where !property.isComputed {
      let value = property.field.value(object, at: property.offset, position: position)
      text += "\t\(property.name) = \(indented(Self.text(of: value, depth: depth - 1)));\n"
    }
    return text + "}"
  }

  static func text(of value: Any, depth: Int) -> String {
    if isNull(value) { return "(null)" }
    switch value {
    case let property as any RecordingProperty: return text(of: property.content, depth: depth)
    case let any as AnyRealmValue: return any.content.map { text(of: $0, depth: depth) } ?? "(null)"
    case let object as ObjectBase: return text(of: object, depth: depth)
    case let flag as Bool: return flag ? "1" : "0"
    case let data as Data: return text(of: data)
    case let elements as any DescribedCollection: return elements.describedElements(depth: depth)
    default:
      let mirror = Mirror(reflecting: value)
      if mirror.displayStyle == .optional, let content = mirror.children.first {
        return text(of: content.value, depth: depth)
      }
      return "\(value)"
    }
  }

  static func text<Elements: Collection>(
    ofElements elements: Elements, named name: String, depth: Int
  ) -> String {
    var text = "\(name) (\n"
    for (index, element) in elements.prefix(maximumElements).enumerated() {
      text += "\t[\(index)] \(indented(Self.text(of: element, depth: depth)))"
      text += index + 1 < Swift.min(elements.count, maximumElements) ? ",\n" : "\n"
    }
    if elements.count > maximumElements {
      text += "\t... \(elements.count - maximumElements) objects skipped.\n"
    }
    return text + ")"
  }

  static func text(ofEntries entries: [(key: String, value: Any)], named name: String, depth: Int) -> String {
    var text = "\(name) {\n"
    for (key, value) in entries.prefix(maximumElements) {
      text += "\t[\(key)]: \(indented(Self.text(of: value, depth: depth)))\n"
    }
    if entries.count > maximumElements {
      text += "\t... \(entries.count - maximumElements) objects skipped.\n"
    }
    return text + "}"
  }

  private static func text(of data: Data) -> String {
    let hex = data.prefix(maximumBytes).map { String(format: "%02x", $0) }.joined()
    return data.count > maximumBytes ? "<\(hex)... (\(data.count) bytes)>" : "<\(hex)>"
  }

  private static func indented(_ text: String) -> String { text.replacingOccurrences(of: "\n", with: "\n\t") }
}

/// A collection of a realm, as its owner describes it.
protocol DescribedCollection {
  func describedElements(depth: Int) -> String
}
