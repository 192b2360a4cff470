/// A link by primary key to a row that is not there. The cell that holds it does not show it: a single value is null, a collection lacks the element. When a
/// row of the primary key is made, the link takes its place in the cell as any other.
public struct AbsentLink: Sendable, Hashable {
  /// Where the link is to stand in its cell.
  public enum Place: Sendable, Hashable {
    /// It is the value of the cell.
    case value
    /// In a list: before the element at that position, or behind the last one. Of several with one position the first comes first.
    case before(Int)
    /// It is the value of a key of a map.
    case key(String)
    /// It is an element of a set.
    case member

    // Keys by their bytes, as maps have them.
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

  /// The id of the table of the row.
  public var table: UInt32
  public var primaryKey: Value
  public var place: Place
  /// In a list whose elements have ids the id of the element; else 0.
  public var elementID: UInt64
  /// In such a list the id of the place that the element was moved to; 0 for one that was never moved.
  public var elementPlace: UInt64

  public init(
    table: UInt32, primaryKey: Value, place: Place = .value, elementID: UInt64 = 0, elementPlace: UInt64 = 0
  ) {
    (self.table, self.primaryKey, self.place) = (table, primaryKey, place)
    (self.elementID, self.elementPlace) = (elementID, elementPlace)
  }

  /// Ids of elements have 63 bits, and are not 0.
  static let elementIDs = UInt64(1)...UInt64(Int64.max)
  /// No list is so long: that leaves room for sums.
  private static let positions = 0..<1 << 48

  /// Whether the elements of a list, and those of its links to rows that are not there, have each an id and a place of their own. The place of an element is where it was
  /// moved to, or else its id.
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

/// The stored form of a cell of a companion (FORMAT.md, "Links to rows that are not there").
extension AbsentLink {
  /// - Parameter owner: the column whose cell has the links.
  /// - Precondition: each place is one of such a column; in a list positions do not fall.
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

  /// Nil for a value that is none of links in a column.
  static func decode(_ value: Value, in owner: Column) -> [AbsentLink]? {
    guard case .data(let bytes) = value else { return value == .null ? [] : nil }
    var reader = ByteReader(bytes)
    // Each takes two bytes at least.
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

  /// Whether no two stand where one only can.
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
  /// The links of a list after elements were inserted before a position: what stood there before stays before them.
  mutating func shift(by count: Int, behind position: Int) {
    for index in indices {
      guard case .before(let place) = self[index].place, place > position else { continue }
      self[index].place = .before(place + count)
    }
  }

  /// The same after elements were removed.
  mutating func shift(without range: Range<Int>) {
    for index in indices {
      guard case .before(let place) = self[index].place, place > range.lowerBound else { continue }
      self[index].place = .before(Swift.max(range.lowerBound, place - range.count))
    }
  }
}
