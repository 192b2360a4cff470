import Foundation
import RealmStorage

/// Writes objects and collections as a text for people: one property a line, five levels deep, and 100 KiB at most.
///
/// An object or a collection is one level, and what it holds is the next. The recursion never goes deeper, whatever the
/// objects link to.
struct ObjectDescription {
  static let maximumDepth = 5
  static let maximumElements = 100
  static let maximumBytes = 24
  /// The largest length of a whole text, in bytes of UTF-8.
  static let maximumLength = 100 * 1024
  /// The part of `maximumLength` that is kept free for the ends of open objects and the line about what was left out.
  private static let reserve = 1024

  private var text = ""
  /// The number of bytes that may still be written.
  private var room: Int
  /// The indentation of each line.
  private var indent = ""
  /// The properties and elements, and the bytes of values, that were left out for lack of space.
  private var leftOut = (items: 0, bytes: 0)

  private init(length: Int) { room = length - Self.reserve }

  // MARK: - Whole texts

  static func text(of object: ObjectBase) -> String { made { $0.add(object, maximumDepth) } }

  static func text(of collection: any DescribedCollection) -> String {
    made { collection.describe(in: &$0, depth: maximumDepth) }
  }

  /// The text of a value as a message quotes it.
  static func quoted(_ value: Any) -> String {
    made(length: 2 * reserve) { $0.add(quoting: value, 3) }
  }

  static func text(of value: Any) -> String { made { $0.add(value, maximumDepth) } }

  static func made(length: Int = maximumLength, _ body: (inout ObjectDescription) -> Void) -> String {
    var description = ObjectDescription(length: length)
    body(&description)
    return description.finished
  }

  private var finished: String {
    guard isFull else { return text }
    var parts: [String] = []
    if leftOut.items > 0 { parts.append("\(leftOut.items) properties and elements") }
    if leftOut.bytes > 0 { parts.append("\(leftOut.bytes) bytes of a value") }
    return text + "\n... left out, as the text would be too long: \(parts.joined(separator: ", "))."
  }

  // MARK: - Writing

  private var isFull: Bool { leftOut.items > 0 || leftOut.bytes > 0 }

  private mutating func write(_ part: String) {
    guard !isFull else {
      leftOut.bytes += part.utf8.count
      return
    }
    let part = part.contains("\n") ? part.replacingOccurrences(of: "\n", with: "\n" + indent) : part
    let length = part.utf8.count
    if length <= room {
      text += part
      room -= length
      return
    }
    var end = part.utf8.index(part.startIndex, offsetBy: room)
    // The text is not cut within a character.
    while end > part.startIndex, String.Index(end, within: part) == nil { end = part.utf8.index(before: end) }
    text += part[..<end]
    leftOut.bytes += part[end...].utf8.count
    room = 0
  }

  /// Writes the items of an object or a collection, one on each line, as long as there is space.
  private mutating func writeLines(
    _ count: Int, open: String, close: String, _ body: (inout ObjectDescription, Int) -> Void
  ) {
    guard !isFull else {
      leftOut.items += count
      return
    }
    write(open + "\n")
    indent += "\t"
    for index in 0..<count {
      if isFull {
        leftOut.items += count - index
        break
      }
      if index == 0 { write("\t") } else { write("\n") }
      body(&self, index)
    }
    indent.removeLast()
    // The reserve has space for this end if nothing else fits any more.
    let end = (count == 0 ? "" : "\n" + indent) + close
    text += end
    room = max(0, room - end.utf8.count)
  }

  // MARK: - Values

  mutating func add(_ object: ObjectBase, _ depth: Int) {
    let model = object.ownModel
    if object.isInvalidated { return write("[invalid object]") }
    guard depth > 0 else { return write("<Maximum depth exceeded>") }
    let stored = model.properties.indices.filter { !model.properties[$0].isComputed }
    writeLines(stored.count, open: "\(model.name) {", close: "}") { text, index in
      let (position, property) = (stored[index], model.properties[stored[index]])
      text.write("\(property.name) = ")
      if let unknown = property.field.unknown(object, at: property.offset, position: position) {
        text.add(unknown: unknown, depth - 1)
      } else {
        text.add(property.field.value(object, at: property.offset, position: position), depth - 1)
      }
      text.write(";")
    }
  }

  mutating func add(_ value: Any, _ depth: Int) {
    if isNull(value) { return write("(null)") }
    switch value {
    case let property as any RecordingProperty: add(property.content, depth)
    case let any as AnyRealmValue:
      if let content = any.content { add(content, depth) } else { write("(null)") }
    case let flag as Bool: write(flag ? "1" : "0")
    case let text as String: write(text)
    case let data as Data: write(Self.text(of: data))
    case let elements as any DescribedCollection: elements.describe(in: &self, depth: depth)
    default:
      if let object = instance(value, of: ObjectBase.self) { return add(object, depth) }
      let mirror = Mirror(reflecting: value)
      if mirror.displayStyle == .optional, let content = mirror.children.first {
        return add(content.value, depth)
      }
      write("\(value)")
    }
  }

  /// Adds a stored value, in its stored form, for which the program has no value.
  mutating func add(unknown value: Value, _ depth: Int) { add(value.plain ?? "(null)", depth) }

  mutating func add<Elements: Collection>(
    elements: Elements, named name: String, _ depth: Int, unknown: (Int) -> Value? = { _ in nil }
  ) {
    guard depth > 0 else { return write("<Maximum depth exceeded>") }
    let count = elements.count
    let shown = Swift.min(count, Self.maximumElements)
    var index = elements.startIndex
    let lines = shown + (count > shown ? 1 : 0)
    writeLines(lines, open: "\(name) (", close: ")") { text, offset in
      guard offset < shown else { return text.write("... \(count - shown) objects skipped.") }
      text.write("[\(offset)] ")
      if let value = unknown(offset) {
        text.add(unknown: value, depth - 1)
      } else {
        text.add(elements[index], depth - 1)
      }
      index = elements.index(after: index)
      if offset + 1 < shown { text.write(",") }
    }
  }

  mutating func add(
    entries: [(key: String, value: Any)], named name: String, _ depth: Int
  ) {
    guard depth > 0 else { return write("<Maximum depth exceeded>") }
    let shown = Swift.min(entries.count, Self.maximumElements)
    let lines = shown + (entries.count > shown ? 1 : 0)
    writeLines(lines, open: "\(name) {", close: "}") { text, index in
      guard index < shown else { return text.write("... \(entries.count - shown) objects skipped.") }
      text.write("[\(entries[index].key)]: ")
      if let unknown = entries[index].value as? UnknownElement {
        text.add(unknown: unknown.value, depth - 1)
      } else {
        text.add(entries[index].value, depth - 1)
      }
    }
  }

  /// Adds a value as the program wrote it, down to a depth.
  private mutating func add(quoting value: Any, _ depth: Int) {
    switch value {
    case let values as [String: Any]:
      write("[")
      guard depth > 0 else { return write("...]") }
      for (index, key) in values.keys.sorted().prefix(Self.maximumElements).enumerated() {
        write(index == 0 ? "\"\(key)\": " : ", \"\(key)\": ")
        add(quoting: values[key] as Any, depth - 1)
      }
      write(values.isEmpty ? ":]" : values.count > Self.maximumElements ? ", ...]" : "]")
    case let values as [Any]:
      write("[")
      guard depth > 0 else { return write("...]") }
      for (index, element) in values.prefix(Self.maximumElements).enumerated() {
        if index > 0 { write(", ") }
        add(quoting: element, depth - 1)
      }
      write(values.count > Self.maximumElements ? ", ...]" : "]")
    case let text as String: write(text)
    case let flag as Bool: write("\(flag)")
    default: if isNull(value) { write("nil") } else { add(value, 1) }
    }
  }

  private static func text(of data: Data) -> String {
    let hex = data.prefix(maximumBytes).map { String(format: "%02x", $0) }.joined()
    return data.count > maximumBytes ? "<\(hex)... (\(data.count) bytes)>" : "<\(hex)>"
  }
}

/// A collection of a realm, as the description of its owner includes it.
protocol DescribedCollection {
  func describe(in text: inout ObjectDescription, depth: Int)
}
