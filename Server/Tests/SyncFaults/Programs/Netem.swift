import Foundation
import SyncPrograms

/// A network of the system's that is slow: a namespace of its own, so that nobody else's is slowed down. Linux alone has it, and only root may make it.
enum Netem {
  private static func script(_ rest: String) -> String {
    "ip link set lo up && tc qdisc add dev lo root netem delay 10ms 5ms loss 0.5%" + rest
  }

  /// Whether this machine has the tools, and lets this user use them.
  static var isThere: Bool {
    (try? Command.status("unshare", ["--net", "/bin/sh", "-c", script("")])) == 0
  }

  /// Runs a row in such a network: this program once more.
  static func run(_ scene: Scene, row: String) throws -> Report {
    let program = try Program(
      "sync-faults within netem", "unshare",
      [
        "--net", "/bin/sh", "-c", script(#" && exec "$0" "$@""#), Scene.executable, "run", scene.server,
        "--seed", "\(scene.seed)", "--within-netem",
      ] + (scene.isQuick ? ["--quick"] : []) + ["--rows", row], in: scene.newFolder("netem"))
    // It ends what it has started.
    defer { program.end(bySignal: true) }
    let line = try program.line(within: 900)
    let report = Report(told: line)
    if !report.isGood {
      // It tells what is wrong before it ends.
      _ = try? program.line(within: 10)
      report.check(false, program.failure("has found it").description)
    }
    return report
  }
}
