/// The content of the files of workloads on lists: owners with a number, a name and a list of three elements each. One
/// of them also gets a list of a million elements.
struct Lists {
  enum Kind: String {
    /// Lists of integers.
    case numbers
    /// Lists of objects in a table of their own. The long list has each of them once, in an order that is as good as
    /// random.
    case links
    /// Lists of words. There is no long list of them.
    case texts
  }

  let kind: Kind
  let owners: Int
  /// The number of elements of the long list.
  let length: Int

  /// The owner of the long list.
  var long: Int { owners / 2 }
  /// Another owner, whose list is made as long by an append for each element.
  var other: Int { owners / 3 }
  /// The number of objects that lists of links contain.
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
  /// The number, or the item to link to.
  var element: Int
}

extension Inputs {
  func lists(_ kind: Lists.Kind) -> Lists {
    Lists(kind: kind, owners: sizes.listOwners, length: sizes.million)
  }

  /// Random places that the long list has even if as many elements are missing as there are commits.
  func places(_ number: Int, seed: UInt64) -> [Int] {
    var random = SplitMix64(seed: seed)
    // The places are after the first element, so that each of them lies between two elements.
    return (0..<number).map { _ in 1 + random.next(below: sizes.million - sizes.listCommits - 2) }
  }

  func listChanges(_ number: Int, seed: UInt64) -> [ListChange] {
    var random = SplitMix64(seed: seed + 1)
    return places(number, seed: seed).map {
      ListChange(place: $0, element: random.next(below: sizes.million))
    }
  }
}
