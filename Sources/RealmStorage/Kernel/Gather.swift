import CRealmPlatform

/// Copies some of the values of a cluster's column one after another: the values at places that ascend.
enum Gather {
  /// Packs distances from a base anew. They take fewer bits if those that are copied are closer together.
  ///
  /// - Precondition: there is at least one place, and each place is less than `count`.
  static func packed(
    _ places: [UInt16], of bytes: RawSpan, count: Int, width: Int, base: Int64
  ) -> (bytes: [UInt8], width: Int, least: Int64, greatest: Int64) {
    guard width > 0 else { return ([], 0, base, base) }
    check(places, count)
    precondition(
      bytes.byteCount >= PackedIntegers.byteCount(count, width: width),
      "packed values outside of their column")
    return withUnsafeTemporaryAllocation(of: UInt64.self, capacity: places.count) { distances in
      var bounds: (least: UInt64, greatest: UInt64) = (0, 0)
      bytes.withUnsafeBytes { values in
        withUnsafeMutablePointer(to: &bounds) { bounds in
          bounds.withMemoryRebound(to: UInt64.self, capacity: 2) {
            cp_gather_packed(
              values.baseAddress, UInt32(width), places, places.count, distances.baseAddress, $0)
          }
        }
      }
      let width = PackedIntegers.width(forRange: bounds.greatest - bounds.least)
      let (least, greatest) = (
        base &+ Int64(bitPattern: bounds.least), base &+ Int64(bitPattern: bounds.greatest)
      )
      // This is checked because filling an array of no bytes writes to the storage that all empty arrays share.
      guard width > 0 else { return ([], 0, least, greatest) }
      let size = PackedIntegers.byteCount(places.count, width: width)
      let packed = [UInt8](unsafeUninitializedCapacity: size) { target, filled in
        cp_pack(distances.baseAddress, places.count, bounds.least, UInt32(width), target.baseAddress)
        filled = size
      }
      return (packed, width, least, greatest)
    }
  }

  /// Copies values of `size` bytes each.
  static func fixed(_ places: [UInt16], of bytes: RawSpan, count: Int, size: Int) -> [UInt8] {
    check(places, count)
    precondition(bytes.byteCount >= count * size, "values outside of their column")
    return [UInt8](unsafeUninitializedCapacity: places.count * size) { target, filled in
      bytes.withUnsafeBytes {
        cp_gather_fixed($0.baseAddress, size, places, places.count, target.baseAddress)
      }
      filled = places.count * size
    }
  }

  /// The number of bytes that values of varying size take.
  ///
  /// - Parameters:
  ///   - first: the place of the first value that `words` has.
  ///   - words: where each value ends, in the lowest bits.
  /// - Precondition: no end is less than the end before it.
  static func length(_ places: ArraySlice<UInt16>, from first: Int, words: RawSpan, endBits: Int) -> Int {
    check(places, from: first, words.byteCount / 2)
    let length = words.withUnsafeBytes { words in
      places.withUnsafeBufferPointer {
        cp_gathered_length(words.baseAddress, UInt32(endBits), $0.baseAddress, $0.count, first)
      }
    }
    precondition(length >= 0, "values that end before they begin")
    return length
  }

  /// Copies values of varying size into a heap, one after another.
  ///
  /// - Parameters:
  ///   - first: the place of the first value that `words` has.
  ///   - words: for each value where it ends in `bytes`, in the lowest bits, and flags in the other bits.
  ///   - start: where the first value goes in the heap.
  ///   - made: gets such a word for each copied value, with its end in the heap.
  /// - Returns: where the last value ends in the heap.
  /// - Precondition: no end is less than the end before it, the last one lies in `bytes`, and there is room for all
  ///   values.
  static func varying(
    _ places: ArraySlice<UInt16>, from first: Int, words: RawSpan, endBits: Int, of bytes: RawSpan,
    to heap: inout MutableRawSpan, at start: Int, words made: inout MutableRawSpan
  ) -> Int {
    check(places, from: first, words.byteCount / 2)
    precondition(
      start >= 0 && heap.byteCount < 1 << endBits && made.byteCount >= 2 * places.count,
      "no room for where values end")
    let end = words.withUnsafeBytes { words in
      bytes.withUnsafeBytes { bytes in
        heap.withUnsafeMutableBytes { heap in
          made.withUnsafeMutableBytes { made in
            places.withUnsafeBufferPointer { places in
              cp_gather_values(
                words.baseAddress, UInt32(endBits), bytes.baseAddress, bytes.count, places.baseAddress,
                places.count, first, heap.baseAddress, heap.count, start, made.baseAddress)
            }
          }
        }
      }
    }
    precondition(
      end >= start && end <= heap.byteCount, "no room for the values, or none where they are said to be")
    return end
  }

  /// Adds keys of a leaf to `keys`. Each key is the prefix and then a suffix.
  ///
  /// - Parameters:
  ///   - words: where each suffix ends; empty if all suffixes have `width` bytes.
  ///   - ends: gets where each key ends in `keys`.
  /// - Precondition: no end is less than the end before it, and the last one lies in `suffixes`.
  static func keys(
    _ places: [UInt16], count: Int, prefix: RawSpan, words: RawSpan, width: Int, suffixes: RawSpan,
    to keys: inout [UInt8], ends: inout [Int]
  ) {
    check(places, count)
    let (end, first) = (keys.count, ends.count)
    words.withUnsafeBytes { words in
      let length =
        words.isEmpty
        ? places.count * width
        : cp_gathered_length(words.baseAddress, 16, places, places.count, 0)
      keys.append(contentsOf: repeatElement(0, count: length + places.count * prefix.byteCount))
      ends.append(contentsOf: repeatElement(0, count: places.count))
      keys.withUnsafeMutableBufferPointer { keys in
        ends.withUnsafeMutableBufferPointer { ends in
          prefix.withUnsafeBytes { prefix in
            suffixes.withUnsafeBytes { suffixes in
              guard let target = keys.baseAddress, let ends = ends.baseAddress else { return }
              cp_gather_keys(
                prefix.bindMemory(to: UInt8.self).baseAddress, prefix.count,
                words.isEmpty ? nil : words.baseAddress, width,
                suffixes.bindMemory(to: UInt8.self).baseAddress, places, places.count, target + end, end,
                ends + first)
            }
          }
        }
      }
    }
  }

  /// Copies suffixes that stand next to each other in a leaf, each behind `prefix` or without its first bytes, one
  /// after another.
  ///
  /// - Parameters:
  ///   - words: where each suffix ends; the first suffix begins at `start`. It is empty if all suffixes have `width`
  ///     bytes.
  ///   - dropped: how many of its first bytes each suffix loses.
  ///   - target: gets the suffixes, and has exactly the room that they take.
  /// - Precondition: no end is less than the end before it, the last one lies in `suffixes`, and no suffix has fewer
  ///   bytes than it loses.
  static func stretch(
    of suffixes: RawSpan, count: Int, words: RawSpan, start: Int, width: Int, prefix: RawSpan,
    dropping dropped: Int, to target: inout MutableRawSpan
  ) {
    precondition(words.isEmpty || words.byteCount >= 2 * count, "suffixes without their ends")
    let length = suffixes.withUnsafeBytes { suffixes in
      words.withUnsafeBytes { words in
        prefix.withUnsafeBytes { prefix in
          target.withUnsafeMutableBytes { target in
            cp_copy_suffixes(
              prefix.baseAddress, prefix.count, dropped, words.isEmpty ? nil : words.baseAddress, start,
              width,
              suffixes.baseAddress, suffixes.count, count, target.baseAddress, target.count)
          }
        }
      }
    }
    precondition(length == target.byteCount, "suffixes that are not where they are said to be")
  }

  private static func check(_ places: [UInt16], _ count: Int) { check(places[...], from: 0, count) }

  private static func check(_ places: ArraySlice<UInt16>, from first: Int, _ count: Int) {
    // The places ascend, so the first and the last one tell enough.
    guard let least = places.first, let greatest = places.last else { return }
    precondition(
      first >= 0 && least >= first && Int(greatest) - first < count, "a value outside of its column")
  }
}
