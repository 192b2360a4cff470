import ArgumentParser
import RealmTestSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Gives the storage engine damaged, truncated, foreign and forged files, and system calls that fail.
struct FileFuzz: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "files",
    abstract: "Opens files that are not as the engine left them and checks that nothing wrong is read.")

  @Option(help: "Where the random numbers start.")
  var seed: UInt64 = 1

  @Flag(help: "Fewer states: two or three minutes in a release build.")
  var quick = false

  @Option(help: "Run only the parts whose name starts with this.")
  var part = ""

  @Option(help: .hidden)
  var objectWorker: String?

  @Option(help: .hidden)
  var firstState = 0

  @Flag(help: .hidden)
  var encrypted = false

  func run() throws {
    Alarm.shared.start()
    if let objectWorker {
      return try ObjectWorker(
        path: objectWorker, first: firstState, seed: seed, isEncrypted: encrypted, isQuick: quick
      ).run()
    }
    guard try Part.runAll(parts(), startingWith: part, seed: seed, isQuick: quick) else { throw ExitCode(1) }
  }

  private typealias NamedPart = (name: String, body: (Part) throws -> Void)

  private func parts() throws -> [NamedPart] {
    let samples = try Sample.all(seed: seed)
    var parts: [NamedPart] = []
    for sample in samples { parts.append(("flips-\(sample.name)", { try Flips(sample: sample).run($0) })) }
    for sample in samples {
      parts.append(("truncations-\(sample.name)", { try Truncations(sample: sample).run($0) }))
    }
    parts.append(("garbage", { try Garbage().run($0) }))
    parts.append(("decoders", { try Decoders(samples: samples).run($0) }))
    for sample in samples { parts.append(("io-\(sample.name)", { try InputOutput(sample: sample).run($0) })) }
    for sample in samples where sample.key == nil && sample.isClean {
      parts.append(("forged", { try Forged(sample: sample).run($0) }))
    }
    parts.append(("objects-plain", { try Objects(key: nil).run($0) }))
    parts.append(("objects-encrypted", { try Objects(key: Keys.first).run($0) }))
    for key in [nil, Keys.first] as [[UInt8]?] {
      for owner in SyncedSample.Owner.allCases {
        let run: (Part) throws -> Void = {
          try SyncedFiles(sample: SyncedSample(owner, key: key, seed: $0.seed)).run($0)
        }
        parts.append(("sync-\(SyncedSample.name(owner, key))", run))
      }
    }
    parts.append(("sync-messages", { try SyncMessages(seed: $0.seed).run($0) }))
    return parts
  }
}
