import Foundation

/// Posts messages to an address of HTTP, as the JSON of `Message.json()`.
public struct AddressMessenger: Messenger {
  private let url: URL
  private let post: @Sendable (URL, Data) async throws -> Int

  /// - Parameters:
  ///   - url: the address that messages are posted to.
  ///   - post: sends an HTTP POST request with a body of the type `application/json`, and returns the status. It has a
  ///     time limit of its own.
  public init(url: URL, post: @escaping @Sendable (URL, Data) async throws -> Int) {
    self.url = url
    self.post = post
  }

  /// Posts a message.
  ///
  /// - Throws: `AccountError.Code.serviceUnavailable` for a status other than 200 to 299; the errors of `post`.
  public func deliver(_ message: Message) async throws {
    let status = try await post(url, message.json())
    guard (200..<300).contains(status) else {
      throw AccountError(
        .serviceUnavailable,
        "The address that messages are posted to answered the status \(status). Check it.")
    }
  }
}
