import SyncPrograms

/// The values of a person. They take 104 bytes on average, as in the other benchmarks, and are the same for the same
/// number.
struct PersonValues {
  let id: Int
  let name: String
  let email: String
  let age: Int
  let score: Double
  let active: Bool
  /// The time of creation, in seconds since 1970.
  let created: Int
  let city: String
  let bio: String?

  private static let words = ["River", "Bada", "Kelo", "Wises", "Nind", "Zahore", "Tevast", "Gomi", "Pelar"]

  init(_ number: Int) {
    var random = SeededNumbers(seed: UInt64(number))
    func word() -> String { Self.words[random.below(Self.words.count)] }
    let (first, last) = (word(), word())
    id = number
    name = "\(first) \(last)"
    email = "\(first).\(last).\(number)@ex.com"
    age = random.below(100)
    score = Double(random.below(1 << 50)) / Double(1 << 50) * 1000
    active = random.below(2) == 0
    created = 1_500_000_000 + random.below(200_000_000)
    city = "City of \(random.below(1000))"
    bio = random.below(2) == 0 ? (0..<10).map { _ in word() }.joined(separator: " ") : nil
  }
}
