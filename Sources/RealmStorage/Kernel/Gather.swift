import CRealmPlatform

/// Some of the values of a column of a cluster, put one after another: those at places in order.
enum Gather {
  /// Distances from a base, packed anew: in fewer bits where those that are left lie closer together.
  ///
  /// - Precondition: there is a place, and none is `count` or more.
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
      // An array of no bytes that is filled writes to the one that all empty arrays share.
      guard width > 0 else { return ([], 0, least, greatest) }
      let size = PackedIntegers.byteCount(places.count, width: width)
      let packed = [UInt8](unsafeUninitializedCapacity: size) { target, filled in
        cp_pack(distances.baseAddress, places.count, bounds.least, UInt32(width), target.baseAddress)
        filled = size
      }
      return (packed, width, least, greatest)
    }
  }

  /// Values of `size` bytes each.
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

  /// Bytes that values of varying size take.
  ///
  /// - Parameters:
  ///   - first: the place of the first value that there is.
  ///   - words: where each ends, in the lowest bits.
  /// - Precondition: ends grow.
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

  /// Values of varying size, put into a heap one after another; answers where the last ends.
  ///
  /// - Parameters:
  ///   - first: the place of the first value that there is.
  ///   - words: of each value where it ends in `bytes`, in the lowest bits, and flags in the others.
  ///   - start: where the first one goes.
  ///   - made: get the same of each where it stands then.
  /// - Precondition: ends grow, the last lies in `bytes`, and there is room for all.
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

  /// Keys of a leaf, each its prefix and a suffix, added to those of `keys`.
  ///
  /// - Parameters:
  ///   - words: where each suffix ends; empty where all have `width` bytes.
  ///   - ends: get where each key ends in `keys`.
  /// - Precondition: ends grow, and the last lies in `suffixes`.
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

  /// Suffixes of neighbours in a leaf, each behind `prefix` or without its first bytes, put one after another.
  ///
  /// - Parameters:
  ///   - words: where each suffix ends, the first of them beginning at `start`; empty where all have `width` bytes.
  ///   - target: gets them, and has room for as much as they are.
  /// - Precondition: ends grow, the last lies in `suffixes`, and none is shorter than what is dropped.
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
    // They are in order.
    guard let least = places.first, let greatest = places.last else { return }
    precondition(
      first >= 0 && least >= first && Int(greatest) - first < count, "a value outside of its column")
  }
}
