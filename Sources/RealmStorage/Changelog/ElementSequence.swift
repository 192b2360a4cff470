/// The elements of a list by their ids, in the order of the list. They include the hidden elements, which are links to
/// objects that are not in the file.
///
/// This is a tree in which each node stands for an element and counts the nodes below it. Random priorities keep it
/// balanced. To find, insert, remove or show an element, and to get its rank among all elements or among the shown
/// ones, takes O(log n).
final class ElementSequence {
  struct Element {
    var id: UInt64
    /// The id of the place to which the element was moved; 0 for an element that was never moved.
    var place: UInt64 = 0
    /// The object that the element links to, if it is not in the file. The element is hidden then.
    var absent: Target?
  }

  /// An object that is not in the file.
  struct Target {
    var table: UInt32
    var primaryKey: Value
  }

  private struct Node {
    var id: UInt64
    var place: UInt64
    var priority: UInt32
    var isShown: Bool
    /// The indexes of other nodes in `nodes`; -1 for none.
    var parent: Int32 = -1
    var left: Int32 = -1
    var right: Int32 = -1
    /// The number of nodes in this subtree, and the number of them whose elements are shown.
    var count: Int32 = 1
    var shown: Int32
  }

  /// The limit of the number of elements that are held in memory.
  static let most = 1 << 30

  private var nodes: [Node] = []
  /// The indexes in `nodes` that are not used.
  private var free: [Int32] = []
  private var root: Int32 = -1
  /// The indexes in `nodes` by the ids of elements.
  private var byID: [UInt64: Int32] = [:]
  /// The ids of elements by the places to which they were moved.
  private var byPlace: [UInt64: UInt64] = [:]
  private var absent: [UInt64: Target] = [:]
  private var seed: UInt64 = 0
  /// The number of nodes that were looked at.
  private(set) var steps = 0

  /// The result is nil if two elements have the same id or the same place, or if there are `most` elements or more.
  init?(_ elements: [Element]) {
    guard elements.count < Self.most else { return nil }
    nodes.reserveCapacity(elements.count)
    byID.reserveCapacity(elements.count)
    for (rank, element) in elements.enumerated() {
      guard byID[element.id] == nil, element.place == 0 || byPlace[element.place] == nil else { return nil }
      insert(element, at: rank)
    }
  }

  private subscript(_ place: Int32) -> Node {
    get { nodes[Int(place)] }
    set { nodes[Int(place)] = newValue }
  }

  private func countBelow(_ place: Int32) -> Int32 { place < 0 ? 0 : self[place].count }
  private func shownBelow(_ place: Int32) -> Int32 { place < 0 ? 0 : self[place].shown }

  // MARK: - Reading

  var count: Int { Int(countBelow(root)) }
  var shownCount: Int { Int(shownBelow(root)) }
  /// True if some elements are hidden.
  var hasAbsent: Bool { !absent.isEmpty }

  func isShown(_ id: UInt64) -> Bool { byID[id] != nil && absent[id] == nil }

  /// The target of a hidden element; nil for all other elements.
  func target(of id: UInt64) -> Target? { absent[id] }

  /// The number of elements before an element; nil if no element has the id.
  func rank(of id: UInt64) -> Int? {
    guard var here = byID[id] else { return nil }
    var rank = countBelow(self[here].left)
    while self[here].parent >= 0 {
      let parent = self[here].parent
      if self[parent].right == here { rank += countBelow(self[parent].left) + 1 }
      here = parent
      steps += 1
    }
    return Int(rank)
  }

  /// The id of the element that was moved to a place.
  func element(movedTo place: UInt64) -> UInt64? { byPlace[place] }

  /// The element at a rank.
  ///
  /// - Precondition: the rank is less than the count.
  func element(at rank: Int) -> Element {
    var (here, rest) = (root, Int32(rank))
    while true {
      let before = countBelow(self[here].left)
      if rest == before { break }
      steps += 1
      if rest < before {
        here = self[here].left
      } else {
        rest -= before + 1
        here = self[here].right
      }
    }
    let node = self[here]
    return Element(id: node.id, place: node.place, absent: absent[node.id])
  }

  /// The number of shown elements among the first `count` elements.
  ///
  /// - Precondition: there are at least `count` elements.
  func shown(amongFirst count: Int) -> Int {
    guard count < self.count else { return shownCount }
    var (here, rest, shown) = (root, Int32(count), Int32(0))
    while rest > 0 {
      steps += 1
      let before = countBelow(self[here].left)
      if rest <= before {
        here = self[here].left
      } else {
        shown += shownBelow(self[here].left) + (self[here].isShown ? 1 : 0)
        rest -= before + 1
        here = self[here].right
      }
    }
    return Int(shown)
  }

  /// The links to objects that are not in the file, in order, in the form in which they stand in the cell of the list.
  func absentLinks() -> [AbsentLink] {
    guard hasAbsent else { return [] }
    var links: [AbsentLink] = []
    var shown = 0
    forEach { node in
      if let target = absent[node.id] {
        links.append(
          AbsentLink(
            table: target.table, primaryKey: target.primaryKey, place: .before(shown), elementID: node.id,
            elementPlace: node.place))
      } else {
        shown += 1
      }
    }
    return links
  }

  private func forEach(_ body: (Node) -> Void) {
    var here = root
    while here >= 0, self[here].left >= 0 { here = self[here].left }
    while here >= 0 {
      body(self[here])
      steps += 1
      if self[here].right >= 0 {
        here = self[here].right
        while self[here].left >= 0 { here = self[here].left }
      } else {
        var below = here
        here = self[here].parent
        while here >= 0, self[here].right == below {
          below = here
          here = self[here].parent
        }
      }
    }
  }

  // MARK: - Changing

  /// - Precondition: no element has the same id or the same place; `rank` is at most the count.
  func insert(_ element: Element, at rank: Int) {
    let new = make(element)
    guard root >= 0 else {
      root = new
      return
    }
    var (here, rest) = (root, Int32(rank))
    var isBelow = false
    while !isBelow {
      self[here].count += 1
      if element.absent == nil { self[here].shown += 1 }
      steps += 1
      let before = countBelow(self[here].left)
      let isLeft = rest <= before
      let next = isLeft ? self[here].left : self[here].right
      if !isLeft { rest -= before + 1 }
      if next >= 0 {
        here = next
      } else {
        if isLeft { self[here].left = new } else { self[here].right = new }
        isBelow = true
      }
    }
    self[new].parent = here
    while self[new].parent >= 0, self[new].priority > self[self[new].parent].priority { raise(new) }
  }

  /// - Returns: the removed element; nil if no element has the id.
  @discardableResult
  func remove(_ id: UInt64) -> Element? {
    guard let gone = byID.removeValue(forKey: id) else { return nil }
    while self[gone].left >= 0, self[gone].right >= 0 {
      let (left, right) = (self[gone].left, self[gone].right)
      raise(self[left].priority > self[right].priority ? left : right)
    }
    let child = max(self[gone].left, self[gone].right)
    let parent = self[gone].parent
    if child >= 0 { self[child].parent = parent }
    put(child, inPlaceOf: gone, below: parent)
    var here = parent
    while here >= 0 {
      recount(here)
      here = self[here].parent
      steps += 1
    }
    let element = Element(id: id, place: self[gone].place, absent: absent.removeValue(forKey: id))
    if element.place != 0 { byPlace[element.place] = nil }
    free.append(gone)
    return element
  }

  /// Changes the target of a hidden element.
  func set(_ id: UInt64, absent target: Target) {
    if absent[id] != nil { absent[id] = target }
  }

  private func make(_ element: Element) -> Int32 {
    let node = Node(
      id: element.id, place: element.place, priority: nextPriority(), isShown: element.absent == nil,
      shown: element.absent == nil ? 1 : 0)
    var place = Int32(nodes.count)
    if let reused = free.popLast() {
      place = reused
      self[place] = node
    } else {
      nodes.append(node)
    }
    byID[element.id] = place
    if element.place != 0 { byPlace[element.place] = element.id }
    if let target = element.absent { absent[element.id] = target }
    return place
  }

  /// The next priority. Each sequence gets the same numbers, so that runs of the program can be repeated.
  private func nextPriority() -> UInt32 {
    seed &+= 0x9e37_79b9_7f4a_7c15
    var mixed = (seed ^ seed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return UInt32(truncatingIfNeeded: mixed >> 32)
  }

  private func put(_ node: Int32, inPlaceOf old: Int32, below parent: Int32) {
    if parent < 0 {
      root = node
    } else if self[parent].left == old {
      self[parent].left = node
    } else {
      self[parent].right = node
    }
  }

  /// Exchanges a node with its parent. The order of the elements stays.
  private func raise(_ node: Int32) {
    let parent = self[node].parent
    let above = self[parent].parent
    let isLeft = self[parent].left == node
    let inner = isLeft ? self[node].right : self[node].left
    if isLeft {
      self[parent].left = inner
      self[node].right = parent
    } else {
      self[parent].right = inner
      self[node].left = parent
    }
    if inner >= 0 { self[inner].parent = parent }
    put(node, inPlaceOf: parent, below: above)
    self[node].parent = above
    self[parent].parent = node
    recount(parent)
    recount(node)
    steps += 1
  }

  private func recount(_ node: Int32) {
    let (left, right) = (self[node].left, self[node].right)
    self[node].count = countBelow(left) + countBelow(right) + 1
    self[node].shown = shownBelow(left) + shownBelow(right) + (self[node].isShown ? 1 : 0)
  }
}
