import Foundation
import RealmStorage
import Synchronization
import RealmTestSupport
import Testing

/// The reasons that keep a file from being opened, the ways to give a key, and files that are in use.
@Suite struct OpeningTests {
  private static let commands = ["info", "check", "schema", "stats", "dump"]

  /// Checks that every command ends with 3 and gives the same reason.
  private func expectRefusal(_ path: String, _ reason: String, arguments: [String] = [], key: String? = nil)
    throws
  {
    for command in Self.commands {
      let outcome = try Tool.run([command, path] + arguments, key: key)
      #expect(outcome.code == 3, "\(command): \(outcome.output)\(outcome.complaint)")
      #expect(outcome.complaint.contains(reason), "\(command): \(outcome.complaint)")
      #expect(outcome.output == "")
    }
  }

  @Test func `a key for a file that is not encrypted is refused`() throws {
    try withTemporaryPath { path in
      try ToolSample.makeSmall(path)
      try expectRefusal(path, "is not encrypted", key: Self.digits(Keys.first))
    }
  }

  @Test func `an encrypted file is refused without its key and with another key`() throws {
    try withTemporaryPath { path in
      try ToolSample.makeSmall(path, key: Keys.first)
      try expectRefusal(path, "is encrypted")
      try expectRefusal(path, "another key", key: Self.digits(Keys.second))
    }
  }

  @Test func `a file of a newer format is refused`() throws {
    try withTemporaryPath { path in
      try ToolSample.makeSmall(path)
      var bytes = try Data(contentsOf: URL(filePath: path))
      for page in [0, 4096] { bytes[page + 8] = 9 }
      try bytes.write(to: URL(filePath: path))
      try expectRefusal(path, "format 9")
    }
  }

  @Test func `a file of another draft and a file of the original Realm are refused`() throws {
    try withTemporaryPath { path in
      let golden = GoldenFile.folder.appending(path: "refused")
      for name in ["plain", "encrypted"] {
        try Data(contentsOf: golden.appending(path: "draft-0-\(name).realm")).write(to: URL(filePath: path))
        try expectRefusal(path, "draft 0")
      }
      let header = [UInt8](repeating: 0, count: 16) + Array("T-DB".utf8) + [24, 23, 0, 1]
      try Data(header + [UInt8](repeating: 1, count: 9000)).write(to: URL(filePath: path))
      try expectRefusal(path, "original Realm, in its format 23")
      try expectRefusal(path, "original Realm, in its format 23", key: Self.digits(Keys.first))
      let before = try FolderListing(around: path)
      for command in [["copy", path, path + ".new"], ["compact", path]] {
        let outcome = try Tool.run(command)
        #expect(outcome.code == 3 && outcome.complaint.contains("original Realm"), "\(outcome.complaint)")
      }
      #expect(try FolderListing(around: path) == before && before.names == ["test.realm"])
    }
  }

  @Test func `an empty file, a folder and a text are refused`() throws {
    try withTemporaryPath { path in
      try Data().write(to: URL(filePath: path))
      try expectRefusal(path, "is empty")
      let compact = try Tool.run(["compact", path])
      #expect(compact.code == 3 && compact.complaint.contains("is empty"))
      let copy = try Tool.run(["copy", path, path + ".new"])
      #expect(copy.code == 3 && copy.complaint.contains("is empty"))
      #expect(try FolderListing(around: path).names == ["test.realm"])
      try Data("a text".utf8).write(to: URL(filePath: path))
      try expectRefusal(path, "is not a realm file")
      try expectRefusal(path, "encrypted file of the original Realm", key: Self.digits(Keys.first))
      #expect(try FolderListing(around: path).names == ["test.realm"])
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      try expectRefusal(path, "is a folder")
      #expect(try FolderListing(around: path).names == ["test.realm"])
    }
  }

  @Test func `a file that only the tool opens gets no files beside it if none can be made`() throws {
    try withTemporaryPath { path in
      try ToolSample.makeSmall(path, key: Keys.first)
      for suffix in [".management", ".note"] { try FileManager.default.removeItem(atPath: path + suffix) }
      try expectRefusal(path, "is encrypted")
      try expectRefusal(path, "another key", key: Self.digits(Keys.second))
      #expect(try FolderListing(around: path).names == ["test.realm"])
    }
  }

  @Test(arguments: [false, true])
  func `the tool leaves nothing beside a file, whole or damaged`(isDamaged: Bool) throws {
    try withTemporaryPath { path in
      try ToolSample.makeSmall(path)
      for suffix in [".management", ".note"] { try FileManager.default.removeItem(atPath: path + suffix) }
      if isDamaged {
        var bytes = try Data(contentsOf: URL(filePath: path))
        for place in 8192..<bytes.count { bytes[place] ^= 0x55 }
        try bytes.write(to: URL(filePath: path))
      }
      for command in Self.commands {
        let outcome = try Tool.run([command, path])
        #expect(outcome.code == (isDamaged ? 1 : 0), "\(command): \(outcome.output)\(outcome.complaint)")
        #expect(try FolderListing(around: path).names == ["test.realm"], "\(command)")
      }
      guard !isDamaged else { return }
      // Another process has the file open, which this handle plays.
      let database = try Database(path: path)
      let before = try FolderListing(around: path).names
      #expect(try Tool.run(["info", path]).code == 0)
      #expect(try FolderListing(around: path).names == before && before.count == 4)
      try database.write { try $0.tree("notes").set([1], for: [1]) }
    }
  }

  @Test func `a file that was cut off is refused`() throws {
    try withTemporaryPath { path in
      try ToolSample.makeSmall(path)
      let bytes = try Data(contentsOf: URL(filePath: path))
      for length in [5000, 8192, 8193, 12_287] {
        try bytes.prefix(length).write(to: URL(filePath: path))
        try expectRefusal(path, "cut short")
      }
    }
  }

  @Test func `a file that may not be read is refused`() throws {
    try withTemporaryPath { path in
      try ToolSample.makeSmall(path)
      try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
      let folder = (path as NSString).deletingLastPathComponent
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder)
      // The superuser may read all files. So the tool runs as another user, if the system has the means.
      guard let outcome = try Tool.runAsNobody(["check", path]) else { return }
      #expect(outcome.code == 3, "\(outcome.output)\(outcome.complaint)")
      #expect(outcome.complaint.contains("Permission denied"), "\(outcome.complaint)")
    }
  }

  @Test func `a file that is not a realm is refused in one line, by every command and without waiting`()
    throws
  {
    try withTemporaryPath { path in
      let folder = (path as NSString).deletingLastPathComponent
      let (empty, text, pipe) = (folder + "/empty.realm", folder + "/text.realm", folder + "/pipe.realm")
      try Data().write(to: URL(filePath: empty))
      try Data("name,age\nRex,3\n".utf8).write(to: URL(filePath: text))
      try #require(mkfifo(pipe, 0o600) == 0)
      let refused = [
        (folder, "is a folder"), (folder + "/none.realm", "does not exist"), (empty, empty),
        (text, "not a realm file"),
        (pipe, "is a pipe"), ("/dev/zero", "is a device"), ("/dev/null", "is a device"),
        (text + "/below.realm", "Not a directory"),
      ]
      for (file, reason) in refused {
        for arguments in Self.commands.map({ [$0, file] }) + [
          ["copy", file, folder + "/new.realm"], ["compact", file],
        ] {
          let outcome = try Tool.run(arguments)
          #expect(outcome.code == 3, "\(arguments): \(outcome)")
          #expect(outcome.complaint.contains(reason) && outcome.output == "", "\(arguments): \(outcome)")
          #expect(outcome.complaint.split(separator: "\n").count == 1, "\(arguments): \(outcome)")
        }
      }
      #expect(!FileManager.default.fileExists(atPath: folder + "/new.realm"))
      // A key file may also be any kind of file. The tool reads no more bytes of a device than a key has.
      try ToolSample.makeSmall(path, key: Keys.first)
      for file in ["/dev/zero", "/dev/null", folder, folder + "/none"] {
        #expect(try Tool.run(["info", path, "--key-file", file]).code == 2)
      }
    }
  }

  @Test func `a key file holds bytes or digits`() throws {
    try withTemporaryPath { path in
      try ToolSample.makeSmall(path, key: Keys.first)
      let keyFile = path + ".key"
      for content in [
        Data(Keys.first), Data(Self.digits(Keys.first).utf8), Data((Self.digits(Keys.first) + "\n").utf8),
      ] {
        try content.write(to: URL(filePath: keyFile))
        for command in Self.commands {
          let outcome = try Tool.run([command, path, "--key-file", keyFile])
          #expect(outcome.code == 0, "\(command): \(outcome.complaint)")
        }
      }
      try Data(Keys.second).write(to: URL(filePath: keyFile))
      try expectRefusal(path, "another key", arguments: ["--key-file", keyFile])
      // The key file overrides the environment.
      let both = try Tool.run(["check", path, "--key-file", keyFile], key: Self.digits(Keys.first))
      #expect(both.code == 3)
      try Data(Keys.first.dropLast()).write(to: URL(filePath: keyFile))
      let short = try Tool.run(["check", path, "--key-file", keyFile])
      #expect(short.code == 2 && short.complaint.contains("64 raw bytes"))
      let missing = try Tool.run(["check", path, "--key-file", path + ".none"])
      #expect(missing.code == 2 && missing.complaint.contains("can't be read"))
    }
  }

  @Test(arguments: [nil, Keys.first])
  func `a file in use is checked, and the process that holds an older version is reported`(key: [UInt8]?)
    throws
  {
    try withTemporaryPath { path in
      try ToolSample.makeSmall(path, key: key)
      let digits = key.map { Self.digits($0) }
      let database = try Database(path: path, options: .init(encryptionKey: key))
      let pinned = try database.snapshot()
      try database.write { try $0.tree("large").set([UInt8](repeating: 1, count: 300_000), for: [1]) }
      let older = try database.snapshot()
      let isDone = Atomic(false)
      let (begun, ended) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let writer = Thread {
        defer { ended.signal() }
        var round = UInt8(0)
        while !isDone.load(ordering: .acquiring) {
          round &+= 1
          do {
            try database.write {
              try $0.tree("large").set([UInt8](repeating: round, count: 300_000), for: [1])
            }
          } catch {
            Issue.record("\(error)")
          }
          begun.signal()
        }
      }
      writer.start()
      defer {
        isDone.store(true, ordering: .releasing)
        // The thread ends before its folder is removed.
        ended.wait()
      }
      // The current version is not reported as held.
      begun.wait()
      for _ in 0..<4 {
        let check = try Tool.run(["check", path], key: digits)
        #expect(check.code == 0, "\(check.output)\(check.complaint)")
        let stats = try JSONValue(Tool.run(["stats", "--json", path], key: digits).output)
        let pins = stats["pinned"]?.array ?? []
        for snapshot in [pinned, older] {
          let pin = pins.first { $0["version"]?.integer == Int64(snapshot.version) }
          #expect(pin?["process"]?.integer == Int64(ProcessInfo.processInfo.processIdentifier))
          #expect(pin?["seconds"] != nil)
        }
        let bytes = pins.first { $0["version"]?.integer == Int64(older.version) }?["bytes"]?.integer
        #expect((bytes ?? 0) >= 300_000)
        let text = try Tool.run(["stats", path], key: digits).output
        #expect(text.contains("Version \(older.version)"))
        #expect(text.contains("read by process \(ProcessInfo.processInfo.processIdentifier) for"))
      }
    }
  }

  private static func digits(_ key: [UInt8]) -> String { key.map { String(format: "%02x", $0) }.joined() }
}
