import ArgumentParser
import Foundation
import RealmInterchange
import RealmQuery
import RealmStorage

/// The command line tool `realm`.
@main
struct RealmTool: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "realm",
    abstract: "Looks into .realm files, checks and compares them, and moves what they hold in and out.",
    discussion: """
      Exit codes: 0 all is well; 1 damage was found, something was left out, or `diff` found differences; 2 the arguments, the query or a command of the shell are \
      wrong; 3 the file can't be opened, or a realm file can't be written; 4 the output can't be written; 5 damage kept `diff` from comparing all; 6 an input can't be \
      imported, or objects can't be exported in the format. Exit code 4 takes precedence over all others, because the output is not complete then; a line on \
      standard error says what the command had found or done before.
      """,
    version:
      "realm \(LibraryVersion.current), file format \(MetaPage.format)",
    subcommands: [
      Info.self, Check.self, Dump.self, Query.self, Schema.self, Stats.self, Diff.self, Copy.self,
      Compact.self, SalvageFile.self, Export.self, Import.self, Shell.self, Watch.self, SyncLab.self,
    ])

  static func main() {
    do {
      try Output.prepare()
    } catch {
      Output.complain("\(error)")
      Foundation.exit(OutputError.exitCode)
    }
    Foundation.exit(finish(run()))
  }

  /// The way a command ended: its exit code, and the message for standard error.
  private typealias Ending = (code: CInt, complaint: String?)

  private static func run() -> Ending {
    do {
      var command = try parseAsRoot()
      try command.run()
      return (0, nil)
    } catch let error as OutputError {
      return (OutputError.exitCode, "\(error)")
    } catch let error as StorageError {
      return (error.exitCode, "\(error)")
    } catch let error as QueryError {
      return (2, "\(error)")
    } catch let error as InterchangeError {
      return (error.isOfTarget ? OutputError.exitCode : InterchangeError.exitCode, error.description)
    } catch let error as SyncedFileRefusal {
      return (3, error.description)
    } catch let error as ExitCode {
      return (error.rawValue, nil)
    } catch {
      return ending(of: error)
    }
  }

  /// The ending for an error of the argument parser: either a text that the user asked for, or a message about wrong
  /// arguments.
  private static func ending(of error: any Error) -> Ending {
    switch exitCode(for: error) {
    case .success:
      do {
        try Output.line(fullMessage(for: error))
        return (0, nil)
      } catch {
        return (OutputError.exitCode, "\(error)")
      }
    case .validationFailure: return (2, fullMessage(for: error))
    default: return (3, message(for: error))
    }
  }

  /// Writes the rest of the output, and returns the exit code. The complaint is written after the lines that it is
  /// about.
  private static func finish(_ ending: Ending) -> CInt {
    Interruption.stopIfEnding()
    var ending = ending
    if ending.code != OutputError.exitCode {
      do { try Output.flush() } catch {
        ending.code = OutputError.exitCode
        ending.complaint = "\(error)" + (ending.complaint.map { " " + $0 } ?? "")
      }
    }
    if let complaint = ending.complaint { Output.complain(complaint) }
    return ending.code
  }
}

extension InterchangeError {
  /// The exit code if the input of an import is wrong, or something can't be exported.
  static let exitCode: CInt = 6
}

extension StorageError {
  /// The exit code of the error. Damage has a code of its own, to distinguish it from a file that can't be opened.
  var exitCode: CInt {
    if case .corrupted = self { 1 } else { 3 }
  }
}
