import Foundation
import Synchronization

/// Ends servers, and removes mounts and files that this program has left behind, for example because it was killed.
///
/// The cleanup is a separate shell process. This program tells it what to remove, and it acts when its input ends.
package final class Cleanup {
  private static let descriptor = Mutex<Int32?>(nil)

  private let process = Process()
  private let input = Pipe()

  /// The commands at the end may meet things that are gone already.
  private static let script = """
    trap '' INT TERM HUP
    processes=; mounts=; kept=
    without() { for one in $1; do [ "$one" = "$2" ] || printf '%s ' "$one"; done; }
    while read -r what which; do
      case $what in
        began) processes="$processes $which" ;;
        ended) processes=$(without "$processes" "$which") ;;
        mounted) mounts="$which $mounts" ;;
        unmounted) mounts=$(without "$mounts" "$which") ;;
        kept) kept=yes ;;
      esac
    done
    for one in $processes; do kill -9 "$one"; done
    for one in $mounts; do umount "$one" || umount -l "$one"; done
    [ "$kept" ] || rm -rf "$0"
    """

  /// - Parameter root: The folder of all files. A mount whose path contains a space can't be told.
  package init(removing root: URL) throws {
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", Self.script, root.path]
    process.standardInput = input
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    let descriptor = input.fileHandleForWriting.fileDescriptor
    Self.descriptor.withLock { $0 = descriptor }
  }

  package static func began(process: Int32) { tell("began \(process)") }
  package static func ended(process: Int32) { tell("ended \(process)") }
  /// Keeps the files at the end.
  package static func keepsFiles() { tell("kept all") }
  package static func mounted(_ folder: URL) { tell("mounted \(folder.path)") }
  package static func unmounted(_ folder: URL) { tell("unmounted \(folder.path)") }

  private static func tell(_ line: String) {
    descriptor.withLock { descriptor in
      guard let descriptor else { return }
      try? FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        .write(contentsOf: Data((line + "\n").utf8))
    }
  }

  /// Removes all that is left, and ends the cleanup.
  package func end() {
    Self.descriptor.withLock { $0 = nil }
    try? input.fileHandleForWriting.close()
    let end = ContinuousClock.now + .seconds(10)
    while process.isRunning, ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.01) }
  }
}
