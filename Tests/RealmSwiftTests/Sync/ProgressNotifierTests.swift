import Testing

@testable import RealmSwift

@Suite struct ProgressNotifierTests {
  typealias Figures = (done: UInt64, total: UInt64)

  /// A notifier that gets figures one after another.
  private final class Told {
    private var notifier: ProgressNotifier
    private(set) var isFinished = false

    init(
      _ direction: SyncSession.ProgressDirection, _ mode: SyncSession.ProgressMode,
      countingFrom base: UInt64? = nil
    ) {
      notifier = ProgressNotifier(direction, mode, countingFrom: base)
    }

    /// The reports of the notifier for the figures.
    func of(_ figures: [Figures], isKnown: Bool = true, pendingQuerySet: Bool = false) -> [Double] {
      figures.compactMap { figures in
        let answer = notifier.update(
          done: figures.done, total: figures.total, isKnown: isKnown, pendingQuerySet: pendingQuerySet)
        isFinished = answer.isFinished
        return answer.report
      }
    }
  }

  // MARK: - Until the token goes

  @Test func `an upload is reported by its bytes, and begins at 0 after a completed one`() {
    let told = Told(.upload, .reportIndefinitely)
    #expect(told.of([(0, 100), (25, 100), (25, 100), (50, 200), (100, 200)]) == [0, 0.25, 0.5])
    #expect(told.of([(200, 200), (200, 200), (200, 300), (250, 300), (300, 300)]) == [1, 0, 0.5, 1])
    #expect(!told.isFinished)
  }

  @Test func `bytes of earlier work do not count`() {
    let told = Told(.upload, .reportIndefinitely)
    #expect(told.of([(1000, 1100), (1025, 1100), (1100, 1100)]) == [0, 0.25, 1])
    let begun = Told(.upload, .reportIndefinitely, countingFrom: 900)
    #expect(begun.of([(1000, 1100), (1050, 1100), (1100, 1100)]) == [0.5, 0.75, 1])
  }

  @Test(arguments: [SyncSession.ProgressMode.reportIndefinitely, .forCurrentlyOutstandingWork])
  func `progress without work is reported as complete, once`(mode: SyncSession.ProgressMode) {
    for direction in [SyncSession.ProgressDirection.upload, .download] {
      for figure: UInt64 in [0, 1, 5000] {
        let told = Told(direction, mode)
        #expect(told.of([(figure, figure), (figure, figure), (figure, figure)]) == [1])
        #expect(told.isFinished == (mode == .forCurrentlyOutstandingWork))
      }
    }
  }

  @Test(arguments: [SyncSession.ProgressMode.reportIndefinitely, .forCurrentlyOutstandingWork])
  func `progress is not reported while the figures are unknown`(mode: SyncSession.ProgressMode) {
    let told = Told(.download, mode)
    #expect(told.of([(0, 10), (10, 10)], isKnown: false) == [])
    #expect(!told.isFinished)
    #expect(told.of([(10, 10)]) == [1])
  }

  @Test func `a download is not complete before its objects can be read`() {
    let told = Told(.download, .reportIndefinitely)
    // All bytes but one are there. The last one stands for the time that reading takes.
    let reports = told.of([(0, 1001), (500, 1001), (1000, 1001)])
    #expect(reports.count == 3 && reports[2] < 1 && reports[2] >= 0.99)
    #expect(told.of([(1001, 1001)]) == [1])
  }

  @Test func `figures may begin again with each step of a download`() {
    let estimates = Told(.download, .reportIndefinitely, countingFrom: 0)
    let whole: UInt64 = 1_000_000
    #expect(estimates.of([(400_000, whole), (whole - 1, whole), (whole, whole)]) == [0.4, 0.99, 1])
    #expect(estimates.of([(250_000, whole), (whole, whole)]) == [0.25, 1])
    // The steps are counted in bytes, and end with 1 of 1.
    let bytes = Told(.download, .reportIndefinitely)
    #expect(bytes.of([(300, 601), (600, 601), (1, 1)]) == [0, 0.99, 1])
    #expect(bytes.of([(50, 51), (1, 1), (1, 1)]) == [0.98, 1])
  }

  @Test func `bytes that are lost with a connection do not let the estimate fall`() {
    let told = Told(.download, .reportIndefinitely)
    #expect(told.of([(0, 1001), (500, 1001), (0, 1001), (300, 1001)]) == [0, 500.0 / 1001])
    #expect(told.of([(700, 1001), (1001, 1001)]) == [700.0 / 1001, 1])
  }

  // MARK: - For what is to be done

  @Test func `work that comes later does not count for outstanding work`() {
    let told = Told(.upload, .forCurrentlyOutstandingWork)
    #expect(told.of([(0, 100), (50, 100), (50, 300), (75, 300)]) == [0, 0.5, 0.75])
    #expect(!told.isFinished)
    #expect(told.of([(120, 400)]) == [1])
    #expect(told.isFinished)
    #expect(told.of([(400, 400)]) == [])
    #expect(told.isFinished)
  }

  @Test func `outstanding work is less if its figure falls`() {
    let told = Told(.upload, .forCurrentlyOutstandingWork)
    #expect(told.of([(0, 100), (20, 100), (20, 40), (40, 90)]) == [0, 0.2, 0.5, 1])
  }

  @Test func `outstanding downloads end only when all downloaded objects can be read`() {
    let told = Told(.download, .forCurrentlyOutstandingWork)
    #expect(told.of([(0, 101), (100, 101), (150, 301), (300, 301)]) == [0, 0.99])
    #expect(told.of([(301, 301), (301, 301)]) == [1])
  }

  @Test func `outstanding downloads wait for a query set that is pending`() {
    let told = Told(.download, .forCurrentlyOutstandingWork)
    #expect(told.of([(50, 100), (100, 100)], pendingQuerySet: true) == [])
    #expect(!told.isFinished)
    #expect(told.of([(100, 201), (150, 201), (201, 201)]) == [0, 50.0 / 101, 1])
  }

  @Test func `uploads and indefinite reports do not wait for a query set`() {
    let others: [(SyncSession.ProgressDirection, SyncSession.ProgressMode)] = [
      (.upload, .forCurrentlyOutstandingWork), (.upload, .reportIndefinitely),
      (.download, .reportIndefinitely),
    ]
    for (direction, mode) in others {
      #expect(Told(direction, mode).of([(1, 1)], pendingQuerySet: true) == [1])
    }
  }

  @Test func `a notifier does not wait for a query set that comes later`() {
    let told = Told(.download, .forCurrentlyOutstandingWork)
    #expect(told.of([(0, 101), (50, 101)]).count == 2)
    #expect(told.of([(101, 101)], pendingQuerySet: true) == [1])
    #expect(told.isFinished)
  }

  @Test func `huge figures, and more bytes done than there are to do, are in range`() {
    let most = UInt64.max
    let all: [Figures] = [(most, most), (most - 1, most), (most, 0), (0, most), (1 << 63, most)]
    for (done, total) in all {
      for direction in [SyncSession.ProgressDirection.upload, .download] {
        let reports = Told(direction, .reportIndefinitely, countingFrom: 0).of([(done, total)])
        let areRight = reports.allSatisfy { (0...1).contains($0) && ($0 == 1) == (done >= total) }
        #expect(reports.count == 1 && areRight, "\(done) of \(total)")
      }
    }
  }
}
