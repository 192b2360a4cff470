/// What the files of workloads on lists hold: owners with a number, a name and a list of three elements each; one of them
/// is given a list of a million.
struct Lists {
  enum Kind: String {
    /// Of whole numbers.
    case numbers
    /// Of objects in a table of their own. The long list has each of them once, in an order as good as random.
    case links
    /// Of words; there is no long one.
    case texts
  }

  let kind: Kind
  let owners: Int
  /// Elements of the long list.
  let length: Int

  /// The owner of the long list.
  var long: Int { owners / 2 }
  /// Another owner, whose list is made as long, by one append for each element.
  var other: Int { owners / 3 }
  /// Objects that lists of links hold.
  var items: Int { kind == .links ? length : 0 }

  func name(of owner: Int) -> String { words(3, of: owner).joined(separator: " ") }

  /// The texts of a short list.
  func texts(of owner: Int) -> [String] { words(3, of: owner + owners) }

  /// The numbers of a short list, or the items that it links to.
  func elements(of owner: Int) -> [Int] {
    var random = SplitMix64(seed: UInt64(owner))
    return (0..<3).map { _ in random.next(below: length) }
  }

  /// The elements of the long list.
  var elements: [Int] {
    var random = SplitMix64(seed: 23)
    guard kind == .links else { return (0..<length).map { _ in random.next(below: length) } }
    var items = Array(0..<length)
    for place in stride(from: length - 1, to: 0, by: -1) {
      items.swapAt(place, random.next(below: place + 1))
    }
    return items
  }

  private func words(_ number: Int, of seed: Int) -> [String] {
    var random = SplitMix64(seed: UInt64(seed))
    return (0..<number).map { _ in Words.all[random.next(below: Words.all.count)] }
  }
}

/// A change of a list at a place.
struct ListChange {
  var place: Int
  /// A number, or the item to link to.
  var element: Int
}

extension Inputs {
  func lists(_ kind: Lists.Kind) -> Lists {
    Lists(kind: kind, owners: sizes.listOwners, length: sizes.million)
  }

  /// Places at random that the long list has while as many elements are missing as there are commits.
  func places(_ number: Int, seed: UInt64) -> [Int] {
    var random = SplitMix64(seed: seed)
    // Behind the first element, so that each place lies between two.
    return (0..<number).map { _ in 1 + random.next(below: sizes.million - sizes.listCommits - 2) }
  }

  func listChanges(_ number: Int, seed: UInt64) -> [ListChange] {
    var random = SplitMix64(seed: seed + 1)
    return places(number, seed: seed).map {
      ListChange(place: $0, element: random.next(below: sizes.million))
    }
  }
}
