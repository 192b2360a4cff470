import Foundation

/// What standard input says, line by line, to a program that takes its orders from it.
package enum Orders {
  private static let stream = AsyncStream<String> { continuation in
    Thread.detachNewThread {
      while let line = readLine() { continuation.yield(line) }
      // Who has started this program has ended, or needs it no more.
      _exit(0)
    }
  }

  /// Ends the program with its input from now on.
  package static func begin() { _ = stream }

  /// Waits for the next one. One task may do so at a time.
  package static func next() async -> String {
    for await line in stream { return line }
    _exit(0)
  }
}

/// Answers who has started this program. It is sent at once: what `print` writes into a pipe would come later.
package func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// Tells the person at the terminal something that is no figure.
package func note(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

/// Ends this program, since what it would find out is worth nothing.
package func fail(_ text: String) -> Never {
  note(text)
  _exit(1)
}
