import Foundation
import RealmStorage
import RealmSwift
import RealmTestSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Processes that were started without standard input, output or error. What they print must not get into a file of
/// ours.
struct Descriptors {
  let part: Part

  func run() throws {
    let missing: [[CInt]] =
      part.isQuick ? [[1], [0, 1, 2]] : [[0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]]
    for closed in missing {
      try withScenes { scene in
        try part.state("encrypted \(scene.isEncrypted), without \(closed)") { try run(scene, closed) }
      }
    }
  }

  private func run(_ scene: Scene, _ closed: [CInt]) throws {
    let status = try Child.run(
      ["worker", Role.unheard.rawValue, scene.path] + (scene.isEncrypted ? ["--encrypted"] : []),
      closing: closed)
    let complaint = try? String(contentsOfFile: scene.path + Unheard.complaint, encoding: .utf8)
    guard status == 0, complaint == nil else {
      throw Violation(complaint ?? "the process ended ill: \(Child.describe(status))")
    }
    let folder = (scene.path as NSString).deletingLastPathComponent
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
      guard
        (try? FileManager.default.attributesOfItem(atPath: folder + "/" + name)[.type] as? FileAttributeType)
          == .typeRegular
      else { continue }
      let content = try Data(contentsOf: URL(filePath: folder + "/" + name))
      guard content.range(of: Data(Unheard.text.utf8)) == nil else {
        throw Violation("wrong: \(name) has what the program printed")
      }
    }
    let database = try scene.open()
    try Scene.check(try database.snapshot())
    database.close()
  }
}

final class Line: Object {
  @Persisted(primaryKey: true) var number: Int
  @Persisted var text: String
}

/// Opens files in all possible ways, and prints a text after each, in a process that has no standard output.
struct Unheard {
  static let complaint = ".complaint"
  static let text = "nobody hears this"

  let path: String
  let isEncrypted: Bool
  private let missing: [CInt]

  init(path: String, isEncrypted: Bool) {
    self.path = path
    self.isEncrypted = isEncrypted
    missing = [0, 1, 2].filter { fcntl($0, F_GETFD) < 0 }
  }

  func run() throws {
    do {
      guard !missing.isEmpty else { throw Violation("all descriptors are open") }
      try useDatabases()
      try useRealms()
    } catch {
      try "\(error)".write(toFile: path + Self.complaint, atomically: false, encoding: .utf8)
    }
  }

  private func useDatabases() throws {
    let options = options(isEncrypted: isEncrypted)
    let database = try Database(path: path, options: options)
    try speak("a new file is open")
    try database.write { try $0.tree("a").set([1], for: [1]) }
    // A wait needs one more file descriptor.
    _ = try database.waitForCommit(after: database.version, timeout: .milliseconds(1))
    try speak("something was written")
    try database.snapshot().copy(to: path + ".copied", encryptionKey: options.encryptionKey)
    try speak("a copy was made")
    let reader = try Database(
      path: path + ".copied", options: .init(encryptionKey: options.encryptionKey, isReadOnly: true))
    try speak("the copy is open")
    reader.close()
    database.close()
    try Database.compact(path: path + ".copied", options: options)
    guard FileManager.default.createFile(atPath: path + ".empty", contents: nil) else {
      throw Violation("no empty file")
    }
    let filled = try Database(path: path + ".empty", options: options)
    try speak("an empty file is open")
    filled.close()
    _ = try Database.removeFiles(path: path + ".empty")
    try speak("files were removed")
  }

  private func useRealms() throws {
    let key = isEncrypted ? Data(Keys.first) : nil
    func configuration(_ name: String, _ seed: String? = nil) -> Realm.Configuration {
      Realm.Configuration(
        fileURL: URL(filePath: path + name), encryptionKey: key, objectTypes: [Line.self],
        seedFilePath: seed.map { URL(filePath: path + $0) })
    }
    try autoreleasepool {
      let realm = try Realm(configuration: configuration(".lines"))
      try realm.write { realm.add(Line(value: ["number": 1, "text": "kept"])) }
      try speak("a realm is open")
    }
    let realm = try Realm(configuration: configuration(".lines copied", ".lines"))
    try speak("a realm that began with a seed is open")
    guard realm.objects(Line.self).count == 1 else { throw Violation("the seed is lost") }
  }

  /// Prints in every way, and checks that no file of ours has a descriptor that is printed to.
  private func speak(_ occasion: String) throws {
    print(Self.text)
    fflush(nil)
    for descriptor in missing {
      _ = Self.text.withCString { write(descriptor, $0, strlen($0)) }
      if let file = Self.path(of: descriptor), file.contains((path as NSString).lastPathComponent) {
        throw Violation("\(occasion): \(file) has descriptor \(descriptor)")
      }
      #if os(Linux)
        if let file = Self.path(of: descriptor), file.contains("eventpoll") {
          throw Violation("\(occasion): who waits has descriptor \(descriptor)")
        }
      #endif
    }
  }

  private static func path(of descriptor: CInt) -> String? {
    #if os(Linux)
      return try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
    #else
      var buffer = [CChar](repeating: 0, count: Int(MAXPATHLEN))
      guard fcntl(descriptor, F_GETPATH, &buffer) == 0 else { return nil }
      return buffer.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
    #endif
  }
}
