import ArgumentParser
import Definition
import Foundation
import Logging
import RealmStorage
import Service

struct Init: AsyncParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Makes an app, with a definition to be changed.")

  @OptionGroup var place: DataOption
  @Argument(help: "The id of the app: 1 to 64 of a-z, A-Z, 0-9, - and _.") var app: String

  func run() async throws {
    let text = AppDefinition.sample(id: app)
    // The text contains the id, so this checks the id before anything is written.
    _ = try AppDefinition.read(text, file: "app.yaml") { _, _, _ in nil }
    try place.folder.add(app, text: text)
    print(
      "\(place.data)/\(app)/app.yaml is made. Change it, check it with: realm-server check --data \(place.data)"
    )
  }
}

struct Check: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Checks the definitions of all apps and, of a server that does not run, their files.")

  @OptionGroup var place: DataOption

  func run() async throws {
    let folder = place.folder
    var isGood = true
    let apps = try folder.apps()
    if apps.isEmpty { print("\(place.data) has no app.") }
    for app in apps {
      do {
        _ = try folder.read(app)
        print("\(app): the definition is right.")
      } catch {
        isGood = false
        print("\(error)")
      }
    }
    for finding in try folder.checkFiles() {
      print(finding.text)
      isGood = isGood && finding.isGood
    }
    if !isGood { throw ExitCode(1) }
  }
}

/// Asks a server, or its folder if none runs, and prints the answer.
private func ask(_ request: AdministrationRequest, _ place: DataOption) async throws {
  var logger = Logger(label: "realm-server") { StreamLogHandler.standardError(label: $0) }
  logger.logLevel = .error
  let answer = try await Administration.ask(request, place.folder, logger: logger)
  for line in answer.lines { print(line) }
  if answer.isError { throw ExitCode(1) }
}

struct AppOption: ParsableArguments {
  @OptionGroup var place: DataOption
  @Option(help: "The app; it may be left out where the folder has one.") var app: String?

  func id() throws -> String {
    if let app { return app }
    let apps = try place.folder.apps()
    guard apps.count == 1 else {
      throw ValidationError("Say which app, with --app: \(apps.joined(separator: ", ")).")
    }
    return apps[0]
  }
}

struct Backup: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Copies an app with its users and signing keys, while the server goes on.")

  @OptionGroup var options: AppOption
  @Argument(help: "The folder that gets a folder of the app.") var folder: String

  func run() async throws {
    let path = URL(fileURLWithPath: folder).path
    try await ask(.backup(app: try options.id(), folder: path), options.place)
  }
}

struct Retire: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Gives up the file of a client that is not used any more, so that its history can be forgotten."
  )

  @OptionGroup var options: AppOption
  @Argument(help: "The number of the file, as /metrics tells it of the oldest one.") var replica: UInt64

  func run() async throws { try await ask(.retire(app: try options.id(), replica: replica), options.place) }
}

struct UserCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "user", abstract: "Shows and changes the users of an app.",
    subcommands: [
      List.self, Disable.self, Enable.self, Delete.self, LogOut.self, Confirm.self, Roles.self,
      CustomData.self, Password.self, ServerKey.self,
    ])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Shows users, 100 at a time.")
    @OptionGroup var options: AppOption
    @Option(help: "Shows those behind this id.") var after: String?
    func run() async throws { try await ask(.users(app: try options.id(), after: after), options.place) }
  }

  struct Disable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Lets a user log in no more; ends its connections.")
    @OptionGroup var options: AppOption
    @Argument var user: String
    func run() async throws { try await ask(.disable(app: try options.id(), user: user), options.place) }
  }

  struct Enable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Lets a user log in again.")
    @OptionGroup var options: AppOption
    @Argument var user: String
    func run() async throws { try await ask(.enable(app: try options.id(), user: user), options.place) }
  }

  struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Deletes a user. What the user wrote stays.")
    @OptionGroup var options: AppOption
    @Argument var user: String
    func run() async throws { try await ask(.delete(app: try options.id(), user: user), options.place) }
  }

  struct LogOut: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "log-out", abstract: "Ends all log-ins of a user.")
    @OptionGroup var options: AppOption
    @Argument var user: String
    func run() async throws { try await ask(.logOut(app: try options.id(), user: user), options.place) }
  }

  struct Confirm: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Confirms a user's e-mail address.")
    @OptionGroup var options: AppOption
    @Argument var user: String
    func run() async throws { try await ask(.confirm(app: try options.id(), user: user), options.place) }
  }

  struct Roles: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Gives a user these roles, and no others.")
    @OptionGroup var options: AppOption
    @Argument var user: String
    @Argument var roles: [String] = []
    func run() async throws { try await ask(.roles(app: try options.id(), user: user, roles), options.place) }
  }

  struct CustomData: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "custom-data", abstract: "Sets what rights may ask of a user: a JSON object, or nothing.")
    @OptionGroup var options: AppOption
    @Argument var user: String
    @Argument var json: String?
    func run() async throws {
      try await ask(.customData(app: try options.id(), user: user, json), options.place)
    }
  }

  struct Password: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Sets the password of a user; it is read from standard input.")
    @OptionGroup var options: AppOption
    @Argument var user: String
    func run() async throws {
      guard let password = readLine(), !password.isEmpty else {
        throw ValidationError("Give the password on standard input, in one line.")
      }
      try await ask(.password(app: try options.id(), user: user, password), options.place)
    }
  }

  struct ServerKey: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "server-key", abstract: "Makes an API key for a program, which is a user of its own.")
    @OptionGroup var options: AppOption
    @Argument var name: String
    func run() async throws { try await ask(.serverKey(app: try options.id(), name: name), options.place) }
  }
}
