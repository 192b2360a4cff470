import Foundation

extension Array {
  /// In proportion to the array, however many places there are.
  mutating func remove(atOffsets offsets: IndexSet) {
    var index = 0
    removeAll { _ in
      defer { index += 1 }
      return offsets.contains(index)
    }
  }

  mutating func move(fromOffsets offsets: IndexSet, toOffset destination: Int) {
    let moved = offsets.map { self[$0] }
    let place = destination - offsets.count(in: 0..<destination)
    remove(atOffsets: offsets)
    insert(contentsOf: moved, at: place)
  }
}
