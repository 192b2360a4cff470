extension [UInt16] {
  /// Adds the places of those numbers whose bit is not set, in order. There is no branch for this, so it takes the same
  /// time however hard it is to predict which bits are set.
  ///
  /// - Parameter base: the number to which the first bit belongs, the lowest bit of the first word.
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
            // This is never beyond the room, because no more places are kept than there are numbers.
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
