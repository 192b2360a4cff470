/// Work that waits, by the users that it is for. Everybody has a turn before anybody has the next one, so that nobody waits behind all that
/// somebody else has asked for. The work of a user is done in the order in which it was added.
struct FairQueue<Work> {
  private var lines: [String: Line<Work>] = [:]
  /// The users whose work waits, in the order of their turns.
  private var order = Line<String>()
  private(set) var count = 0

  mutating func add(_ work: Work, for user: String) {
    count += 1
    if lines[user] == nil { order.append(user) }
    lines[user, default: Line()].append(work)
  }

  /// The work whose turn it is; nil where none waits.
  mutating func next() -> Work? {
    guard let user = order.popFirst() else { return nil }
    count -= 1
    let work = lines[user]?.popFirst()
    if lines[user]?.isEmpty == true { lines[user] = nil } else { order.append(user) }
    return work
  }
}

/// What was added first is taken first.
private struct Line<Element> {
  private var elements: [Element?] = []
  /// Those before were taken.
  private var first = 0

  var isEmpty: Bool { first == elements.count }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard !isEmpty else { return nil }
    let element = elements[first]
    elements[first] = nil
    first += 1
    // The places of those that were taken are given back when they are half of all, so that each is moved once on average.
    if first * 2 >= elements.count {
      elements.removeFirst(first)
      first = 0
    }
    return element
  }
}
