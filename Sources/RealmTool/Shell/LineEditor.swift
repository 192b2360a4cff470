import Foundation
import Synchronization

/// Reads lines from a terminal. If the library libedit is on the machine, lines can be edited, earlier lines come back
/// with the arrow keys, and the tab key completes words. Earlier lines are kept only in memory until the program ends,
/// because they may contain values of a file.
final class LineEditor {
  private typealias ReadLine = @convention(c) (UnsafePointer<CChar>) -> UnsafeMutablePointer<CChar>?
  private typealias AddHistory = @convention(c) (UnsafePointer<CChar>) -> CInt
  private typealias Complete = @convention(c) (UnsafePointer<CChar>?, CInt) -> UnsafeMutablePointer<CChar>?

  /// The words that can be completed. They are static, because the library calls a C function without a context.
  private static let words = Mutex<(all: [String], found: [String])>(([], []))
  private static let libraries = [
    "libedit.so.2", "libedit.so.0", "libedit.so", "libedit.3.dylib", "libedit.dylib",
  ]

  private let edit: (read: ReadLine, add: AddHistory)?
  private let prompt: String
  private var last = ""

  /// Makes an editor.
  ///
  /// - Parameter isPlain: whether lines are read without editing, as from an input that is not a terminal.
  init(prompt: String, isPlain: Bool) {
    self.prompt = prompt
    edit = isPlain ? nil : Self.loaded()
  }

  private static func loaded() -> (read: ReadLine, add: AddHistory)? {
    guard let library = libraries.lazy.compactMap({ dlopen($0, RTLD_NOW) }).first,
      let read = dlsym(library, "readline"), let add = dlsym(library, "add_history")
    else { return nil }
    if let place = dlsym(library, "rl_completion_entry_function") {
      let complete: Complete = { text, number in LineEditor.completion(text, number) }
      place.assumingMemoryBound(to: Complete?.self).pointee = complete
    }
    return (unsafeBitCast(read, to: ReadLine.self), unsafeBitCast(add, to: AddHistory.self))
  }

  /// Sets the words that the tab key completes.
  func complete(with words: [String]) { Self.words.withLock { $0.all = words.sorted() } }

  /// The next line; nil at the end of the input.
  func next() -> String? {
    guard let edit else {
      Output.putOnStandardError(prompt)
      return readLine()
    }
    guard let read = edit.read(prompt) else { return nil }
    defer { free(read) }
    let line = String(cString: read)
    if !line.isEmpty, line != last { _ = edit.add(line) }
    last = line
    return line
  }

  /// The word with a number among those that begin with a text; nil after the last one. The library frees the memory.
  private static func completion(_ text: UnsafePointer<CChar>?, _ number: CInt) -> UnsafeMutablePointer<
    CChar
  >? {
    let start = text.map { String(cString: $0) } ?? ""
    let word = words.withLock { words -> String? in
      if number == 0 { words.found = words.all.filter { $0.hasPrefix(start) } }
      return words.found.indices.contains(Int(number)) ? words.found[Int(number)] : nil
    }
    return word.flatMap { strdup($0) }
  }
}
