extension [UInt16] {
  /// Adds the places, in order, of those of some numbers that have no bit. There is no branch for it: it takes as long however
  /// hard to foresee is which have one.
  ///
  /// - Parameter base: the number of the first bit, the lowest of the first word.
  /// - Precondition: there are at most 65,536 numbers.
  mutating func appendPlaces(of numbers: [UInt64], without bits: [UInt64], base: UInt64) {
    precondition(numbers.count <= 1 << 16, "places of 16 bits")
    var next = count
    append(contentsOf: repeatElement(0, count: numbers.count))
    withUnsafeMutableBufferPointer { places in
      numbers.withUnsafeBufferPointer { numbers in
        bits.withUnsafeBufferPointer { bits in
          for place in numbers.indices {
            let distance = numbers[place] &- base
            // Never beyond the room: no more are kept than there are numbers.
            places[next] = UInt16(truncatingIfNeeded: place)
            let word = distance >> 6 < UInt64(bits.count) ? bits[Int(distance >> 6)] : 0
            next &+= Int(truncatingIfNeeded: ~(word >> (distance & 63)) & 1)
          }
        }
      }
    }
    removeLast(count - next)
  }
}
