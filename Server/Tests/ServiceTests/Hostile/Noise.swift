/// Random bytes, which compression does not make fewer.
enum Noise {
  static let mebibyte: [UInt8] = {
    var state: UInt64 = 1
    return (0..<1 << 20).map { _ in
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: state >> 33)
    }
  }()
}
