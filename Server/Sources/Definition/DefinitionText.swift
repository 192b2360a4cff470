import Yams

/// A place in the text of a definition. Lines and columns count from 1, columns in Unicode scalars.
struct Place: Hashable {
  var line: Int
  var column: Int

  static let start = Place(line: 1, column: 1)
}

extension Place {
  init(_ mark: Mark) { self.init(line: mark.line, column: mark.column) }

  init(_ node: Node) { self = node.mark.map { Place($0) } ?? .start }
}

/// The text of a definition, and where its lines begin.
struct DefinitionText {
  let scalars: [Unicode.Scalar]
  /// The offset of the first scalar of each line. A line break at the end of the text begins no line.
  private let lineStarts: [Int]

  init(_ text: String) {
    var scalars = Array(text.unicodeScalars)
    // Editors do not show a byte order mark, so nobody counts it as a column.
    if scalars.first == "\u{FEFF}" { scalars.removeFirst() }
    var lineStarts = [0]
    for (offset, scalar) in scalars.enumerated() where scalar == "\n" && offset + 1 < scalars.count {
      lineStarts.append(offset + 1)
    }
    (self.scalars, self.lineStarts) = (scalars, lineStarts)
  }

  func place(of offset: Int) -> Place {
    var (low, high) = (0, lineStarts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if lineStarts[middle] <= offset { low = middle } else { high = middle }
    }
    return Place(line: low + 1, column: offset - lineStarts[low] + 1)
  }

  /// The offset of a place; nil behind the end of the text.
  func offset(of place: Place) -> Int? {
    guard lineStarts.indices.contains(place.line - 1), place.column >= 1 else { return nil }
    let offset = lineStarts[place.line - 1] + place.column - 1
    return offset < scalars.count ? offset : nil
  }

  /// The scalar at a place; nil behind the end of the text.
  func scalar(at place: Place) -> Unicode.Scalar? { offset(of: place).map { scalars[$0] } }

  /// The place itself, or the end of the last line if the place is behind it. A text that ends too early has its
  /// problem on a line that the file does not have.
  func within(_ place: Place) -> Place {
    guard place.line > lineStarts.count else { return place }
    let line = scalars[lineStarts[lineStarts.count - 1]...].prefix { $0 != "\n" && $0 != "\r" }
    return Place(line: lineStarts.count, column: line.count + 1)
  }
}
