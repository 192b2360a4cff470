import RealmStorage
import RealmTestSupport
import Testing

@Suite struct ListChangesTests {
  /// All lists of up to `length` elements of `symbols` different numbers.
  private static func lists(of symbols: Int, upTo length: Int) -> [[Int]] {
    var all: [[Int]] = [[]]
    var last = all
    for _ in 0..<length {
      last = last.flatMap { list in (0..<symbols).map { list + [$0] } }
      all += last
    }
    return all
  }

  /// For each subsequence of a list, the lowest places whose removal gives the subsequence.
  private static func subsequences(of list: [Int]) -> [[Int]: [Int]] {
    var found: [[Int]: [Int]] = [:]
    for bits in 0..<1 << list.count {
      let left = list.indices.filter { bits >> $0 & 1 == 1 }
      let kept = list.indices.filter { bits >> $0 & 1 == 0 }.map { list[$0] }
      if let other = found[kept], other.lexicographicallyPrecedes(left) { continue }
      found[kept] = left
    }
    return found
  }

  @Test(arguments: [(2, 6), (3, 4)])
  func `changes of a list are as few as possible, at the lowest places`(symbols: Int, length: Int) {
    let lists = Self.lists(of: symbols, upTo: length)
    let subsequences = Dictionary(uniqueKeysWithValues: lists.map { ($0, Self.subsequences(of: $0)) })
    for old in lists {
      for new in lists {
        let start = zip(old, new).prefix { $0 == $1 }.count
        let rest = (Array(old[start...]), Array(new[start...]))
        let end = zip(rest.0.reversed(), rest.1.reversed()).prefix { $0 == $1 }.count
        guard let before = subsequences[rest.0.dropLast(end)], let after = subsequences[rest.1.dropLast(end)]
        else {
          Issue.record("not among the lists")
          return
        }
        let longest = before.keys.filter { after[$0] != nil }.map(\.count).max()
        var best: (deletions: [Int], insertions: [Int])?
        for (kept, deletions) in before where kept.count == longest {
          guard let insertions = after[kept] else { continue }
          if let best, best.deletions.lexicographicallyPrecedes(deletions) { continue }
          if let best, best.deletions == deletions, !insertions.lexicographicallyPrecedes(best.insertions) {
            continue
          }
          best = (deletions, insertions)
        }
        let found = ListChanges(from: old, to: new)
        #expect(found.deletions == best?.deletions.map { $0 + start }, "\(old) to \(new)")
        #expect(found.insertions == best?.insertions.map { $0 + start }, "\(old) to \(new)")
      }
    }
  }

  @Test(arguments: 0..<40)
  func `changes of long lists are as few as the longest common subsequence allows`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let symbols = [2, 5, 40, 400][Int(seed % 4)]
    var old = (0..<generator.below(260)).map { _ in generator.below(symbols) }
    if seed == 7 { old = [] }
    var new = old
    for _ in 0..<generator.below(120) {
      if generator.chance(50), !new.isEmpty { new.remove(at: generator.below(new.count)) }
      new.insert(generator.below(symbols), at: generator.below(new.count + 1))
    }
    let found = ListChanges(from: old, to: new)
    expect(found, toLead: old, to: new)
    let operations = old.count + new.count - 2 * Self.common(old, new)
    #expect(found.deletions.count + found.insertions.count == operations, "seed \(seed)")
  }

  /// The length of the longest common subsequence.
  private static func common(_ old: [Int], _ new: [Int]) -> Int {
    var lengths = [Int](repeating: 0, count: new.count + 1)
    for element in old {
      var diagonal = 0
      for column in new.indices {
        let above = lengths[column + 1]
        lengths[column + 1] = element == new[column] ? diagonal + 1 : max(above, lengths[column])
        diagonal = above
      }
    }
    return lengths[new.count]
  }

  private func expect(_ changes: ListChanges, toLead old: [Int], to new: [Int]) {
    let deleted = Set(changes.deletions)
    let inserted = Set(changes.insertions)
    #expect(changes.deletions == deleted.sorted() && changes.insertions == inserted.sorted())
    #expect(
      old.indices.filter { !deleted.contains($0) }.map { old[$0] }
        == new.indices.filter { !inserted.contains($0) }.map { new[$0] })
  }

  @Test func `elements that only one list has are not compared, so the changes of the rest stay minimal`() {
    let old = Array(0..<30_000)
    let new = Array(30_000..<60_000) + [5, 4, 3]
    let found = ListChanges(from: old, to: new)
    expect(found, toLead: old, to: new)
    #expect(found.deletions.count == 29_999)
  }

  @Test func `a stretch that is too long for the comparison is replaced as a whole`() {
    let old = Array(0..<ListChanges.mostCompared + 5)
    let new = [0] + old.dropFirst().dropLast().reversed() + [old.count - 1]
    let found = ListChanges(from: old, to: Array(new))
    #expect(found.deletions == Array(1..<old.count - 1))
    #expect(found.insertions == found.deletions)
  }
}
