/// Work that waits, by the users that it is for. Each user has a turn before another user has the next one, so that no
/// user waits behind all the work of another user. The work of a user is done in the order in which it was added.
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

  /// Takes the work whose turn it is; nil if none waits.
  mutating func next() -> Work? {
    guard let user = order.popFirst() else { return nil }
    count -= 1
    let work = lines[user]?.popFirst()
    if lines[user]?.isEmpty == true { lines[user] = nil } else { order.append(user) }
    return work
  }
}

/// A queue: the element that was added first is taken first.
private struct Line<Element> {
  private var elements: [Element?] = []
  /// The place of the first element that was not taken yet.
  private var first = 0

  var isEmpty: Bool { first == elements.count }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard !isEmpty else { return nil }
    let element = elements[first]
    elements[first] = nil
    first += 1
    // The places of the elements that were taken are given back when they are half of all places, so that each element
    // is moved once on average.
    if first * 2 >= elements.count {
      elements.removeFirst(first)
      first = 0
    }
    return element
  }
}
