/// The rows that a path reaches, each one once, with the number of ways that lead to it.
///
/// A path of many steps over lists that link in circles has too many ways to follow, but only a few rows.
struct ReachedRows {
  private(set) var rows: [(key: UInt64, ways: Int)] = []
  private var places: [UInt64: Int] = [:]

  mutating func add(_ key: UInt64, ways: Int) {
    if let place = places[key] {
      rows[place].ways = rows[place].ways.plus(ways)
    } else {
      places[key] = rows.count
      rows.append((key, ways))
    }
  }
}

extension Int {
  /// The sum; if it is too great, the greatest number. No table has so many rows.
  func plus(_ other: Int) -> Int {
    let (sum, isTooMuch) = addingReportingOverflow(other)
    return isTooMuch ? .max : sum
  }

  func times(_ other: Int) -> Int {
    let (product, isTooMuch) = multipliedReportingOverflow(by: other)
    return isTooMuch ? .max : product
  }
}

/// Checks the bounds of a search once for every 1024 rows that the paths of one test reach.
final class WalkCheck {
  private let bounds: QueryBounds
  private let isNeeded: Bool
  private var count = 0

  init(_ bounds: QueryBounds) {
    self.bounds = bounds
    isNeeded = !bounds.isEmpty
  }

  private static let interval = 1 << 10

  @inline(__always)
  func next(_ access: borrowing NodeAccess) throws(StorageError) {
    guard isNeeded else { return }
    count &+= 1
    if count % Self.interval == 0 { try bounds.check(access) }
  }
}
