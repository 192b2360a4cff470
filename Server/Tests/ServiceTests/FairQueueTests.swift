import Testing

@testable import Service

@Suite(.timeLimit(.minutes(3))) struct FairQueueTests {
  @Test func `every user has a turn before any user has the next one`() {
    var queue = FairQueue<String>()
    for number in 0..<1000 { queue.add("a\(number)", for: "a") }
    for work in ["b0", "b1"] { queue.add(work, for: "b") }
    queue.add("c0", for: "c")
    #expect(queue.count == 1003)
    let first = (0..<6).compactMap { _ in queue.next() }
    #expect(first == ["a0", "b0", "c0", "a1", "b1", "a2"])
    // A user who comes later soon has a turn.
    queue.add("d0", for: "d")
    let next = (0..<3).compactMap { _ in queue.next() }
    #expect(next == ["a3", "d0", "a4"])
    let rest = (5..<1000).compactMap { _ in queue.next() }
    #expect(rest == (5..<1000).map { "a\($0)" })
    let last = queue.next()
    #expect(last == nil && queue.count == 0)
  }

  @Test func `the work of a user is done in its order, however it comes and goes`() {
    var queue = FairQueue<(user: Int, number: Int)>()
    var (added, taken) = ([Int](repeating: 0, count: 5), [Int](repeating: 0, count: 5))
    var state: UInt64 = 1
    for _ in 0..<20_000 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let user = Int(state >> 33) % 5
      if state >> 60 < 9 {
        queue.add((user, added[user]), for: "\(user)")
        added[user] += 1
      } else if let work = queue.next() {
        #expect(work.number == taken[work.user])
        taken[work.user] += 1
      }
      #expect(queue.count == added.reduce(0, +) - taken.reduce(0, +))
    }
    while let work = queue.next() { taken[work.user] += 1 }
    #expect(taken == added && queue.count == 0)
  }

  @Test func `sockets of a user with too much waiting work are not read until less work waits`() async throws
  {
    try await withServer(Place()) { server in
      let intake = UserIntake()
      let worker = server.apps[0].worker
      func socket() -> AppSocket {
        AppSocket(
          worker, intake, asked: .now, user: "ann", session: "1",
          data: UserData(roles: [], customData: nil), end: .max
        ) {}
      }
      let (one, other) = (socket(), socket())
      intake.add(UserIntake.most, of: one)
      #expect(!one.isPaused && !other.isPaused)
      intake.add(1, of: other)
      #expect(!one.isPaused && other.isPaused)
      intake.add(1, of: one)
      #expect(one.isPaused)
      intake.take(UserIntake.most / 2)
      #expect(one.isPaused && other.isPaused)
      intake.take(2)
      #expect(!one.isPaused && !other.isPaused)
    }
  }
}
