import ArgumentParser
import RealmStorage

struct Schema: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Lists what the file holds, by name.")

  @OptionGroup var options: FileOptions

  func run() throws {
    let snapshot = try options.open().snapshot()
    for name in try snapshot.treeNames() {
      print("tree \(name): \(try snapshot.tree(name).count()) entries")
    }
  }
}
