import Foundation
import Yams

/// Reads how mails reach users.
extension DefinitionReader {
  mutating func email(_ node: Node) -> AppDefinition.Email {
    var email = AppDefinition.Email()
    guard let entries = entries(node, "'email'", "key") else { return email }
    let known = known(entries, ["auto-confirm", "command", "address"], "'email'", "key")
    if let entry = known["auto-confirm"] {
      email.autoConfirm = flag(entry.value, "'auto-confirm'") ?? email.autoConfirm
    }
    if let entry = known["command"] {
      if let command = command(entry.value) { email.delivery = .command(command) }
    }
    if let entry = known["address"] {
      if let address = address(entry.value) { email.delivery = .address(address) }
      if known["command"] != nil {
        problems.add(
          at: entry.place, "'email' has both a command and an address.",
          "Remove one of them: mails go one way.")
      }
    }
    return email
  }

  private mutating func command(_ node: Node) -> [String]? {
    let remedy = "Write a list of a program and its arguments, such as [/usr/local/bin/send-mail]."
    guard let nodes = list(node, "'command'", remedy) else { return nil }
    guard let first = nodes.first, nodes.count <= 64 else {
      problems.add(
        at: Place(node), "'command' has \(nodes.count) elements.", "\(remedy) 64 elements are the most.")
      return nil
    }
    var command: [String] = []
    for node in nodes {
      guard let text = text(node, "An element of 'command'", remedy) else { continue }
      guard !text.unicodeScalars.contains("\0") else {
        refuse(node, "An element of 'command'", "Remove the zero byte, which no argument can have.")
        continue
      }
      command.append(text)
    }
    guard command.count == nodes.count else { return nil }
    guard command[0].hasPrefix("/") else {
      problems.add(
        at: Place(first), "The path \(Wording.shown(command[0])) of 'command' is relative.",
        "Write the whole path, from / on: the server may run in any folder.")
      return nil
    }
    return command
  }

  private mutating func address(_ node: Node) -> String? {
    let remedy = "Write an address such as https://example.org/hooks/mail."
    guard let text = text(node, "'address'", remedy) else { return nil }
    guard text.utf8.count <= 2_048, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
      let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
      scheme == "https" || scheme == "http", let host = parts.host, !host.isEmpty,
      parts.port.map({ (1...65_535).contains($0) }) ?? true
    else {
      refuse(node, "'address'", remedy)
      return nil
    }
    guard scheme == "https" || Self.isLoopback(host) else {
      problems.add(
        at: Place(node), "'address' sends what mails say over the network in plain text.",
        "Write https in place of http, which may stand before the addresses of this machine only.")
      return nil
    }
    return text
  }

  /// Whether a host is this machine itself.
  private static func isLoopback(_ host: String) -> Bool {
    if ["localhost", "::1", "[::1]"].contains(host.lowercased()) { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}
