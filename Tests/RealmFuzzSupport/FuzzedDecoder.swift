/// A decoder of bytes that come from somebody else, and how it is tried.
public struct FuzzedDecoder {
  /// How a decoder is tried.
  public struct Trial {
    /// Inputs that others are made from, of which there is one at least. Each of them is given to the decoder first, as it is.
    public let samples: [[UInt8]]
    let mutator: ByteMutator
    let memory: MemoryBound
    let run: (_ input: [UInt8], _ generator: inout FuzzGenerator) throws -> Bool

    /// - Parameter run: gives an input to the decoder. It answers whether the decoder accepts it, and throws an error, such as a
    ///   `FuzzFailure`, where it does what it must not do.
    public init(
      samples: [[UInt8]], mutator: ByteMutator, memory: MemoryBound,
      run: @escaping (_ input: [UInt8], _ generator: inout FuzzGenerator) throws -> Bool
    ) {
      (self.samples, self.mutator, self.memory, self.run) = (samples, mutator, memory, run)
    }
  }

  /// So a command names it.
  public let name: String
  /// How many inputs it gets in a short run.
  let quick: Int
  let make: () throws -> Trial

  /// - Parameters:
  ///   - quick: how many inputs it gets in a short run: as many as take a fifth of a second.
  ///   - make: is called once in a process, before the decoder is tried.
  public init(_ name: String, quick: Int = 20_000, _ make: @escaping () throws -> Trial) {
    (self.name, self.quick, self.make) = (name, quick, make)
  }
}

/// How much memory may be asked for while an input is decoded, and what was decoded is written and read again. What is given
/// back meanwhile counts, too.
public struct MemoryBound: Sendable {
  private let constant: Int
  private let perByte: Int

  /// - Parameters:
  ///   - constant: so many bytes may be asked for whatever the input is.
  ///   - perByte: so many more for each byte of the input.
  public init(constant: Int = 256 << 10, perByte: Int) { (self.constant, self.perByte) = (constant, perByte) }

  func allows(_ asked: Int, forInputOf count: Int) -> Bool { asked <= constant + perByte * count }
}
