import Foundation
import Testing

@testable import RealmTool

@Suite struct ProgressBarTests {
  /// A bar whose clock and terminal belong to the test.
  private final class Terminal {
    var now = Date(timeIntervalSince1970: 0)
    var text = ""
    lazy var bar = ProgressBar(isShowing: true, now: { self.now }, write: { self.text += $0 })
  }

  @Test func `the bar is not shown within the first second`() {
    let terminal = Terminal()
    terminal.bar.show(0.1)
    terminal.now += 0.9
    terminal.bar.show(0.5)
    terminal.bar.finish()
    #expect(terminal.text == "")
  }

  @Test func `after a second the bar shows each percent once, and is erased at the end`() {
    let terminal = Terminal()
    _ = terminal.bar
    terminal.now += 1.5
    terminal.bar.show(0.5)
    terminal.bar.show(0.501)
    let half = String(repeating: "#", count: 20) + String(repeating: ".", count: 20)
    #expect(terminal.text == "\r[\(half)] 50 %")
    terminal.bar.show(7)
    terminal.bar.finish()
    terminal.bar.finish()
    #expect(terminal.text == "\r[\(half)] 50 %\r[\(String(repeating: "#", count: 40))] 100 %\r\u{1b}[K")
  }

  @Test func `no bar is shown without a terminal`() {
    var (text, now) = ("", Date(timeIntervalSince1970: 0))
    let bar = ProgressBar(isShowing: false, now: { now }, write: { text += $0 })
    now += 60
    bar.show(0.5)
    bar.finish()
    #expect(text == "")
  }
}
