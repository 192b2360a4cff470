import Foundation
import RealmStorage
import RealmTestSupport
import Testing

/// A program that was started without standard output must not print into a database.
@Suite struct DescriptorTests {
  /// The first file that a process opens gets the lowest free descriptor.
  @Test(arguments: [[1], [2], [0, 1], [1, 2], [0, 1, 2]])
  func `the output of a program without standard output is in no file of a realm`(closed: [Int]) throws {
    try withTemporaryPath { path in
      let folder = (path as NSString).deletingLastPathComponent
      for _ in 0..<2 {
        let code = try Tool.runExample("first-objects", without: closed, temporaryFolder: folder)
        #expect(code == 0)
      }
      let files = try FolderListing(around: path).names
      #expect(
        files.contains("first-objects.realm") && files.contains("first-objects.realm.management/control"))
      // Reading the pipe would block.
      for name in files where !name.hasSuffix(".note") {
        guard let content = FileManager.default.contents(atPath: folder + "/" + name) else { continue }
        #expect(content.range(of: Data("young dogs in".utf8)) == nil, "\(name)")
        #expect(content.count % 4096 == 0, "\(name)")
      }
      let database = try Database(path: folder + "/first-objects.realm")
      #expect(IntegrityCheck.run(try database.snapshot()).problem == nil)
      #expect(try database.snapshot().table("Dog")?.count == 2)
    }
  }
}
