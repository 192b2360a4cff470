import Foundation

extension Array {
  /// Removes the elements at several indexes, in time proportional to the length of the array.
  mutating func remove(atOffsets offsets: IndexSet) {
    var index = 0
    removeAll { _ in
      defer { index += 1 }
      return offsets.contains(index)
    }
  }

  /// Moves the elements at several indexes before the one at `destination`, an index as it is before the move. They keep
  /// their order.
  mutating func move(fromOffsets offsets: IndexSet, toOffset destination: Int) {
    let moved = offsets.map { self[$0] }
    let place = destination - offsets.count(in: 0..<destination)
    remove(atOffsets: offsets)
    insert(contentsOf: moved, at: place)
  }
}
