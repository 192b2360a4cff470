import Foundation

/// Does what the lines of standard input ask for, and shows what others change meanwhile.
@MainActor
final class Conversation {
  private let list: SharedList
  private let name: String
  private let isPlain: Bool
  private let hasPrompt: Bool

  /// - Parameters:
  ///   - name: stands before the prompt.
  ///   - isPlain: another program reads the answers. Each ends with a line `ok` or `failed: …`, and changes of others are
  ///     shown by no other command than `list`.
  init(_ list: SharedList, name: String, isPlain: Bool) {
    (self.list, self.name, self.isPlain) = (list, name, isPlain)
    hasPrompt = !isPlain && isatty(STDIN_FILENO) != 0
  }

  /// Returns at the end of the input, and where a line says `quit`.
  func hold() async {
    list.observe { [weak self] in self?.listDidChange() }
    if !isPlain { say(list.text) }
    prompt()
    for await line in Self.lines() {
      do {
        guard try await perform(Command(line)) else { return }
        if isPlain { say("ok") }
      } catch {
        let text = error.localizedDescription.printable
        say(isPlain ? "failed: \(text)" : text)
      }
      prompt()
    }
  }

  /// The lines of standard input. A thread of its own waits for them, so that the main actor is free for what others change.
  private static func lines() -> AsyncStream<String> {
    AsyncStream { continuation in
      Thread.detachNewThread {
        while let line = readLine() {
          continuation.yield(line)
          // The program ends then: nothing may wait for its input.
          if line.split(separator: " ").first == "quit" { break }
        }
        continuation.finish()
      }
    }
  }

  /// - Returns: whether more lines are read.
  private func perform(_ command: Command) async throws -> Bool {
    switch command {
    case .add(let text): try list.add(text)
    case .done(let number): try list.finish(number)
    case .rename(let number, let text): try list.rename(number, to: text)
    case .step(let number, let text): try list.add(step: text, to: number)
    case .count(let number, let amount): try list.count(number, by: amount)
    case .delete(let number): try list.delete(number)
    case .offline: list.goOffline()
    case .online: list.goOnline()
    case .wait: try await list.wait()
    case .ping(let times): try await list.ping(times)
    case .list:
      if isPlain { say(list.text) }
    case .figures:
      say(list.figures.text)
      return true
    case .help:
      say(Command.helpText)
      return true
    case .quit: return false
    }
    if !isPlain { say(list.text) }
    return true
  }

  private func listDidChange() {
    guard !isPlain else { return }
    // The prompt is written anew below the list.
    say((hasPrompt ? "\r\u{1B}[K" : "") + "Others have changed the list:\n" + list.text)
    prompt()
  }

  private func prompt() {
    guard hasPrompt else { return }
    write(name + (list.connectionProblem.map { " (\($0))" } ?? "") + "> ")
  }

  private func say(_ text: String) { write(text + "\n") }

  /// At once: what `print` writes into a pipe would come later.
  private func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
}
