import RealmSyncSupport
import RealmTestSupport
import Testing

/// Clients and a server whose messages are delayed and lost. `make sync-sim` runs many more of these simulations.
@Suite struct SimulationTests {
  @Test func `clients that have every decided change see the same objects as the server`() throws {
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

  /// In the failure of this seed, a file that was restored from a copy asked for another query set under a number that
  /// the server had already.
  @Test func `a seed that once failed does not fail`() throws {
    let failure = try Simulation(seed: 59_107).run()
    #expect(failure == nil, "\(failure?.description ?? "")")
  }
}
