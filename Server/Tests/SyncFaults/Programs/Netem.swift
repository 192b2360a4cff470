import Foundation
import SyncPrograms

/// A slow network of the system. It has a namespace of its own, so that other programs are not slowed down. Only Linux
/// has it, and only root may make it.
enum Netem {
  private static func script(_ rest: String) -> String {
    "ip link set lo up && tc qdisc add dev lo root netem delay 10ms 5ms loss 0.5%" + rest
  }

  /// True if this machine has the tools, and this user may use them.
  static var isThere: Bool {
    (try? Command.status("unshare", ["--net", "/bin/sh", "-c", script("")])) == 0
  }

  /// Runs a row in such a network, in another process of this program.
  static func run(_ scene: Scene, row: String) throws -> Report {
    let program = try Program(
      "sync-faults within netem", "unshare",
      [
        "--net", "/bin/sh", "-c", script(#" && exec "$0" "$@""#), Scene.executable, "run", scene.server,
        "--seed", "\(scene.seed)", "--within-netem",
      ] + (scene.isQuick ? ["--quick"] : []) + ["--rows", row], in: scene.newFolder("netem"))
    // The program ends the processes that it has started.
    defer { program.end(bySignal: true) }
    let line = try program.line(within: 900)
    let report = Report(told: line)
    if !report.isGood {
      // The program prints the problems before it ends.
      _ = try? program.line(within: 10)
      report.check(false, program.failure("has found it").description)
    }
    return report
  }
}
