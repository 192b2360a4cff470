import RealmSyncSupport
import RealmTestSupport
import Testing

/// Clients and a server whose messages are late and lost. `make sync-sim` runs many more.
@Suite struct SimulationTests {
  @Test func `clients that have all that was decided see the same as the server`() throws {
    var total = Simulation.Count()
    for seed in Slow.seeds(40, slow: 2000) {
      let simulation = try Simulation(seed: seed)
      let failure = try simulation.run()
      #expect(failure == nil, "seed \(seed): \(failure?.description ?? "")")
      total += simulation.count
      if failure != nil { break }
    }
    #expect(total.uploads > 500 && total.deleted > 0 && total.effects > 30)
  }

  /// A file that came back from a copy asked for something else by the number of a set that the server had.
  @Test func `a seed that once failed does not fail`() throws {
    let failure = try Simulation(seed: 59_107).run()
    #expect(failure == nil, "\(failure?.description ?? "")")
  }
}
