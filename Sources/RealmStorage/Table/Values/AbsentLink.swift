/// A link to a row that does not exist, by its primary key. The cell with the link does not show it: a single value is null, and
/// a collection does not have the element. When a row with the primary key is made, the link becomes an ordinary one.
public struct AbsentLink: Sendable, Hashable {
  /// The position of the link in its cell.
  public enum Place: Sendable, Hashable {
    /// The link is the value of the cell.
    case value
    /// The link is an element of a list, before the element at this position, or after the last one. Several links with the same
    /// position are in the order in which they are given.
    case before(Int)
    /// The link is the value for this key of a map.
    case key(String)
    /// The link is an element of a set.
    case member

    // Keys are compared by their bytes, as in maps.
    public static func == (left: Place, right: Place) -> Bool {
      switch (left, right) {
      case (.value, .value), (.member, .member): true
      case (.before(let left), .before(let right)): left == right
      case (.key(let left), .key(let right)): left.utf8.elementsEqual(right.utf8)
      default: false
      }
    }

    public func hash(into hasher: inout Hasher) {
      switch self {
      case .value: hasher.combine(0)
      case .before(let position): hasher.combine(position)
      case .key(let key): for byte in key.utf8 { hasher.combine(byte) }
      case .member: hasher.combine(1)
      }
    }
  }

  /// The id of the table to which the link leads.
  public var table: UInt32
  /// The primary key of the row to which the link leads.
  public var primaryKey: Value
  /// The position of the link in its cell.
  public var place: Place
  /// The id of the element, in a list whose elements have ids; otherwise 0.
  public var elementID: UInt64
  /// The id of the place to which the element was moved, in a list whose elements have ids; 0 if it was never moved.
  public var elementPlace: UInt64

  /// Makes a link to a row that does not exist.
  public init(
    table: UInt32, primaryKey: Value, place: Place = .value, elementID: UInt64 = 0, elementPlace: UInt64 = 0
  ) {
    (self.table, self.primaryKey, self.place) = (table, primaryKey, place)
    (self.elementID, self.elementPlace) = (elementID, elementPlace)
  }

  /// The range of the ids of elements: they have 63 bits and are not 0.
  static let elementIDs = UInt64(1)...UInt64(Int64.max)
  /// The range of accepted positions. No list is longer, and sums of positions can't overflow.
  private static let positions = 0..<1 << 48

  /// Whether each element of a list, and each of its links to missing rows, has an id and a place that no other has. The place of
  /// an element is the one to which it was moved, or else its id.
  static func haveOwnIDs(_ ids: [Value], places: [Value], _ links: [AbsentLink]) -> Bool {
    var (elements, positions): (Set<Value>, Set<Value>) = ([], [])
    for (index, id) in ids.enumerated() {
      let place = !places.indices.contains(index) || places[index] == .null ? id : places[index]
      guard elements.insert(id).inserted, positions.insert(place).inserted else { return false }
    }
    for link in links {
      let place = link.elementPlace == 0 ? link.elementID : link.elementPlace
      guard elements.insert(.int(Int64(bitPattern: link.elementID))).inserted,
        positions.insert(.int(Int64(bitPattern: place))).inserted
      else { return false }
    }
    return true
  }
}

/// The stored form of links to missing rows in the cell of a companion column (FORMAT.md, "Links to
/// rows that are not there").
extension AbsentLink {
  /// Encodes the links of a cell.
  ///
  /// - Parameter owner: the column that has the cell.
  /// - Precondition: the places fit the column's kind of collection; in a list the positions do not decrease.
  static func encode(_ links: [AbsentLink], in owner: Column) -> Value {
    if links.isEmpty { return .null }
    var bytes: [UInt8] = []
    bytes.appendVarint(UInt64(links.count))
    var last = 0
    for link in links {
      bytes.appendVarint(UInt64(link.table))
      ValueCoding.appendMixed(link.primaryKey, to: &bytes)
      switch link.place {
      case .value, .member: break
      case .key(let key): ValueCoding.append(key, to: &bytes)
      case .before(let position):
        bytes.appendVarint(UInt64(position - last))
        last = position
        bytes.appendVarint(link.elementID)
        bytes.appendVarint(link.elementPlace)
      }
    }
    return .data(bytes)
  }

  /// Decodes the links of a cell; nil if the value is not valid for the column.
  static func decode(_ value: Value, in owner: Column) -> [AbsentLink]? {
    guard case .data(let bytes) = value else { return value == .null ? [] : nil }
    var reader = ByteReader(bytes)
    // Each link takes at least two bytes.
    guard let count = reader.varint(), count > 0, count <= UInt64(reader.count) else { return nil }
    var links: [AbsentLink] = []
    var last = 0
    for _ in 0..<count {
      guard let table = reader.varint().flatMap(UInt32.init(exactly:)), table > 0,
        let key = ValueCoding.mixed(&reader), !key.isNested
      else { return nil }
      var link = AbsentLink(table: table, primaryKey: key)
      switch owner.collection {
      case .none: break
      case .set: link.place = .member
      case .map:
        guard let key = reader.text() else { return nil }
        link.place = .key(key)
      case .list:
        guard let gap = reader.varint(), let id = reader.varint(), let place = reader.varint(),
          gap < positions.upperBound, max(id, place) <= elementIDs.upperBound
        else { return nil }
        let position = last + Int(gap)
        guard position < positions.upperBound else { return nil }
        last = position
        (link.place, link.elementID, link.elementPlace) = (.before(position), id, place)
      }
      links.append(link)
    }
    guard reader.isAtEnd, owner.type == .mixed || links.allSatisfy({ $0.table == owner.target }),
      areOnce(links)
    else { return nil }
    return links
  }

  /// Whether no two links are at a position that can have only one.
  private static func areOnce(_ links: [AbsentLink]) -> Bool {
    switch links.first?.place {
    case .value?: return links.count == 1
    case .key?: return Set(links.map(\.place)).count == links.count
    case .member?: return Set(links).count == links.count
    case .before?, nil: return true
    }
  }
}

extension [AbsentLink] {
  /// Moves the links of a list after elements were inserted before a position. Links that stood before that position stay there.
  mutating func shift(by count: Int, behind position: Int) {
    for index in indices {
      guard case .before(let place) = self[index].place, place > position else { continue }
      self[index].place = .before(place + count)
    }
  }

  /// Moves the links of a list after elements were removed.
  mutating func shift(without range: Range<Int>) {
    for index in indices {
      guard case .before(let place) = self[index].place, place > range.lowerBound else { continue }
      self[index].place = .before(Swift.max(range.lowerBound, place - range.count))
    }
  }
}
