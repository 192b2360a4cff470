import Foundation
import SyncPrograms

/// A disk of some MiB in memory, which can be filled. Only Linux has it, and only root may mount it.
final class SmallDisk {
  let folder: URL
  private let mebibytes: Int

  /// - Parameter folder: The folder of the disk, which the initializer makes.
  /// - Returns: Nil if this user may not mount the disk.
  init?(_ folder: URL, mebibytes: Int) throws {
    (self.folder, self.mebibytes) = (folder, mebibytes)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let options = "size=\(mebibytes)m,mode=700"
    guard try Command.status("mount", ["-t", "tmpfs", "-o", options, "tmpfs", folder.path]) == 0 else {
      return nil
    }
    Cleanup.mounted(folder)
  }

  private var ballast: URL { folder.appending(path: "ballast") }

  /// Fills the whole disk.
  func fill() throws {
    try Data().write(to: ballast)
    let file = try FileHandle(forWritingTo: ballast)
    defer { try? file.close() }
    for size in [1 << 20, 4096, 1] {
      let data = Data(count: size)
      // A write that fails shows that less space is left.
      while (try? file.write(contentsOf: data)) != nil {}
    }
  }

  /// Frees the space, and as much again.
  func free() throws {
    try FileManager.default.removeItem(at: ballast)
    let options = "remount,size=\(2 * mebibytes)m"
    guard try Command.status("mount", ["-o", options, folder.path]) == 0 else {
      throw Program.Failure("The disk at \(folder.path) can't be made larger.")
    }
  }

  func end() {
    if (try? Command.status("umount", [folder.path])) != 0 {
      // A process still uses the disk. It is unmounted when none does.
      _ = try? Command.status("umount", ["-l", folder.path])
    }
    Cleanup.unmounted(folder)
  }
}
