import Foundation

/// The lines of standard input, for a program that takes its orders from it.
package enum Orders {
  private static let stream = AsyncStream<String> { continuation in
    Thread.detachNewThread {
      while let line = readLine() { continuation.yield(line) }
      // The parent program has ended, or no longer needs this one.
      _exit(0)
    }
  }

  /// From now on, ends the program when its input ends.
  package static func begin() { _ = stream }

  /// Waits for the next line. Only one task may do so at a time.
  package static func next() async -> String {
    for await line in stream { return line }
    _exit(0)
  }
}

/// Answers the parent program. The line is sent at once, because lines that `print` writes to a pipe would be sent
/// later.
package func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// Prints a text that is not a figure, for the person at the terminal.
package func note(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

/// Ends this program, because its results would be worthless.
package func fail(_ text: String) -> Never {
  note(text)
  _exit(1)
}
