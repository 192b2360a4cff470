import ArgumentParser
import Dispatch
import Foundation
import RealmSwift

/// Two processes on one file: one shows a list that updates itself, the other one writes.
@main
struct Live: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "live", abstract: "Shows a list that updates itself from what other processes write.",
    subcommands: [Watch.self, Set.self, Remove.self, Trade.self])

  struct Place: ParsableArguments {
    @Option(help: "The file.")
    var file = "live.realm"

    var configuration: Realm.Configuration {
      Realm.Configuration(fileURL: URL(fileURLWithPath: file), objectTypes: [Share.self])
    }
    func open() throws -> Realm { try Realm(configuration: configuration) }
  }

  struct Watch: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Shows the shares, and what changes.")
    @OptionGroup var place: Place
    @Flag(help: "Prints a line for each change, for other programs.")
    var plain = false
    @Option(help: "Ends when there is a share of this symbol.")
    var until: String?

    func run() throws {
      let board = Board(isPlain: plain, until: until)
      let shares = try place.open().objects(Share.self).sorted(byKeyPath: "symbol")
      let token = shares.observe { board.show($0) }
      withExtendedLifetime(token) { dispatchMain() }
    }
  }

  struct Set: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Gives a share a price.")
    @OptionGroup var place: Place
    @Argument var symbol: String
    @Argument(help: "In cents.") var price: Int

    func run() throws {
      let realm = try place.open()
      try realm.write {
        realm.create(
          Share.self, value: ["symbol": symbol, "price": price] as [String: Any], update: .modified)
      }
    }
  }

  struct Remove: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Removes a share.")
    @OptionGroup var place: Place
    @Argument var symbol: String

    func run() throws {
      let realm = try place.open()
      guard let share = realm.object(ofType: Share.self, forPrimaryKey: symbol) else {
        throw ValidationError("There is no share \(symbol).")
      }
      try realm.write { realm.delete(share) }
    }
  }

  struct Trade: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Changes prices at random.")
    @OptionGroup var place: Place
    @Option(help: "How often.") var count = 100
    @Option(help: "Milliseconds between two changes.") var pause = 100

    func run() throws {
      let realm = try place.open()
      let symbols = ["ACME", "BOLT", "CRUX", "DUNE", "ECHO", "FLUX", "GALE", "HAZE"]
      for _ in 0..<count {
        try realm.write {
          let symbol = symbols.randomElement() ?? ""
          let share = realm.object(ofType: Share.self, forPrimaryKey: symbol)
          if let share, Int.random(in: 0..<10) == 0 { return realm.delete(share) }
          let price = max(100, (share?.price ?? 5_000) + Int.random(in: -200...200))
          realm.create(
            Share.self, value: ["symbol": symbol, "price": price] as [String: Any], update: .modified)
        }
        usleep(UInt32(pause) * 1_000)
      }
    }
  }
}

/// What is on the screen.
final class Board {
  private let isPlain: Bool
  private let until: String?
  private var symbols: [String] = []

  init(isPlain: Bool, until: String?) { (self.isPlain, self.until) = (isPlain, until) }

  func show(_ change: RealmCollectionChange<Results<Share>>) {
    switch change {
    case .initial(let shares): draw(shares, gone: [], new: [], changed: [])
    case .update(let shares, let deletions, let insertions, let modifications):
      draw(
        shares, gone: deletions.map { symbols[$0] }, new: insertions.map { shares[$0].symbol },
        changed: modifications.map { symbols[$0] })
    case .error(let error):
      print("The file can't be read any more: \(error.localizedDescription)")
      Foundation.exit(1)
    }
    if let until, symbols.contains(until) { Foundation.exit(0) }
  }

  private func draw(_ shares: Results<Share>, gone: [String], new: [String], changed: [String]) {
    symbols = shares.map(\.symbol)
    guard !isPlain else {
      let prices = Dictionary(uniqueKeysWithValues: shares.map { ($0.symbol, $0.price) })
      var lines = gone.map { "- \($0)" }
      lines += new.map { "+ \($0) \((prices[$0] ?? 0).asPrice)" }
      lines += changed.map { "~ \($0) \((prices[$0] ?? 0).asPrice)" }
      if lines.isEmpty { lines = ["\(shares.count) shares"] }
      FileHandle.standardOutput.write(Data((lines.joined(separator: "\n") + "\n").utf8))
      return
    }
    // Clears the screen, and writes from its beginning.
    var text = "\u{1B}[2J\u{1B}[H"
    for share in shares {
      let mark =
        new.contains(share.symbol) ? "\u{1B}[32m+" : changed.contains(share.symbol) ? "\u{1B}[33m~" : " "
      text += "\(mark) \(share.symbol)  \(share.price.asPrice)\u{1B}[0m\n"
    }
    if !gone.isEmpty { text += "\u{1B}[31m- \(gone.joined(separator: ", "))\u{1B}[0m\n" }
    FileHandle.standardOutput.write(Data(text.utf8))
  }
}
