import Foundation
import RealmFuzzSupport
import RealmSwift

/// The client's decoders of answers about users: log-ins, profiles, API keys, errors, and the tokens and documents in
/// them.
enum AccountDecoders {
  static var all: [FuzzedDecoder] { [logIn, profile, location, key, error, token, document] }

  private static let words = [
    "{", "}", "[", "]", ",", ":", "\"", "\\u0000", "\\ud800", "\\ud83d\\ude00", "null", "true", "\"\"", "{}",
    "\"access_token\"", "\"refresh_token\"", "\"user_id\"", "\"device_id\"", "\"identities\"", "\"data\"",
    "\"provider_type\"", "\"hostname\"", "\"ws_hostname\"", "\"sync_route\"", "\"_id\"", "\"name\"",
    "\"disabled\"", "\"key\"", "\"error\"", "\"error_code\"", "\"link\"", "..", "recovered-realms", "ws://",
    "wss://", "http://", "https://", "user@", "?a=b", "#c", ":65536", "[::1]",
  ]
  private static let memory = MemoryBound(constant: 1 << 20, perByte: 4000)

  private static func answer(_ bytes: [UInt8], status: Int = 200) -> ServerAnswer {
    let response = RLMResponse()
    response.httpStatusCode = status
    response.body = String(decoding: bytes, as: UTF8.self)
    return ServerAnswer(response, to: "GET /fuzzed")
  }

  /// - Parameter read: the closure that reads an answer. It throws an `AppError` if the answer is refused.
  private static func decoder(
    _ name: String, _ read: @escaping ([UInt8], inout FuzzGenerator) throws -> Void
  ) -> FuzzedDecoder {
    FuzzedDecoder(name, quick: 10_000) {
      FuzzedDecoder.Trial(
        samples: try NetworkCorpus.kept.samples(name), mutator: ByteMutator(.text(words: words)),
        memory: memory
      ) { bytes, generator in
        do {
          try read(bytes, &generator)
          return true
        } catch is AppError {
          return false
        }
      }
    }
  }

  // MARK: - Answers

  private static var logIn: FuzzedDecoder {
    decoder("log-in-answer") { bytes, _ in
      let made = try LogInAnswer(answer(bytes))
      let token = made.access
      // The tokens are sent in headers, and the user id is the name of a folder.
      guard isVisible(token.text), isVisible(made.refreshToken), !["", ".", ".."].contains(made.userID) else {
        throw FuzzFailure("a log-in is accepted whose token or user can't be used")
      }
      let fields: [String: String?] = [
        "access_token": token.text, "refresh_token": made.refreshToken, "user_id": made.userID,
        "device_id": made.deviceID,
      ]
      let again = try LogInAnswer(answer(Array(JSONEncoder().encode(fields))))
      guard again.access.text == token.text, again.access.end == token.end, again.userID == made.userID,
        again.refreshToken == made.refreshToken, again.deviceID == made.deviceID
      else { throw FuzzFailure("a log-in is read as another one when it is written again") }
    }
  }

  private static func isVisible(_ text: String) -> Bool {
    text.utf8.allSatisfy { (0x21...0x7e).contains($0) }
  }

  private static var profile: FuzzedDecoder {
    decoder("profile-answer") { bytes, _ in
      let profile = try ProfileAnswer(answer(bytes))
      guard profile.identities.count <= bytes.count else { throw FuzzFailure("too many identities are read") }
      try check(.document(profile.data))
    }
  }

  private static var location: FuzzedDecoder {
    decoder("location-answer") { bytes, generator in
      let isSecure = generator.chance(50)
      let location = try AppLocation(answer(bytes), app: "tasks", isSecure: isSecure)
      let socket = location.syncRoute.lowercased()
      guard socket.hasPrefix("wss:") || (socket.hasPrefix("ws:") && !isSecure),
        location.host.isSecure || !isSecure
      else { throw FuzzFailure("an address is accepted over which tokens can be read") }
    }
  }

  private static var key: FuzzedDecoder {
    decoder("key-answer") { bytes, generator in
      if generator.chance(50) {
        let keys = try UserAPIKey.all(of: answer(bytes))
        guard keys.count <= bytes.count else { throw FuzzFailure("too many keys are read") }
      } else {
        _ = try UserAPIKey.one(of: answer(bytes))
      }
    }
  }

  /// An answer counts as accepted if it is an error of a sync server.
  private static var error: FuzzedDecoder {
    decoder("error-answer") { bytes, generator in
      let status = generator.pick([400, 401, 403, 404, 500, 302])
      let error = AppError(answer(bytes, status: status))
      guard !error.localizedDescription.isEmpty, error.httpStatusCode == status else {
        throw FuzzFailure("an error has no message, or another status")
      }
      if error.code == .httpRequestFailed { throw error }
    }
  }

  // MARK: - Tokens and documents

  private static var token: FuzzedDecoder {
    FuzzedDecoder("client-token", quick: 10_000) {
      FuzzedDecoder.Trial(
        samples: try NetworkCorpus.kept.samples("client-token"),
        mutator: ByteMutator(.text(words: words + [".", "=", "-", "_", "eyJleHAiOjF9", "bnVsbA", "e30"])),
        memory: memory
      ) { bytes, generator in
        var text = String(decoding: bytes, as: UTF8.self)
        // A payload that is changed as JSON gets further than one that is changed as base64.
        if text.utf8.first == UInt8(ascii: "{") { text = "e30.\(base64URL(bytes)).c2ln" }
        guard let token = AccessToken(text) else { return false }
        _ = token.ends(within: Double(generator.below(100)))
        guard token.text == text, isVisible(text) else { throw FuzzFailure("a token is another one") }
        try check(.document(token.customData))
        return true
      }
    }
  }

  private static func base64URL(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
  }

  private static let forms = [
    "{\"$numberInt\":\"1\"}", "{\"$numberLong\":\"1\"}", "{\"$numberDouble\":\"NaN\"}",
    "{\"$numberDecimal\":\"1E400\"}", "{\"$oid\":\"0123456789abcdef01234567\"}", "{\"$date\":",
    "\"2020-02-29T23:59:59.999Z\"", "\"0000-01-01T00:00:00+23:59\"", "{\"$minKey\":1}", "{\"$maxKey\":1}",
    "{\"$uuid\":\"01234567-89ab-cdef-0123-456789abcdef\"}", "{\"$timestamp\":{\"t\":1,\"i\":0}}",
    "{\"$binary\":{\"base64\":\"AAAA\",\"subType\":\"04\"}}", "\"$undefined\"",
    "{\"$regularExpression\":{\"pattern\":\"a+\",\"options\":\"imx\"}}",
  ]

  private static var document: FuzzedDecoder {
    FuzzedDecoder("extended-json", quick: 10_000) {
      FuzzedDecoder.Trial(
        samples: try NetworkCorpus.kept.samples("extended-json"),
        mutator: ByteMutator(.text(words: words + forms)), memory: memory
      ) { bytes, generator in
        let value: AnyBSON
        do throws(ExtendedJSONError) {
          value = try ExtendedJSON.read(Data(bytes))
        } catch {
          if generator.chance(5), error.description.isEmpty { throw FuzzFailure("an error says nothing") }
          return false
        }
        try check(value)
        return true
      }
    }
  }

  /// Checks that a value has the same text after it is read from its text.
  private static func check(_ value: AnyBSON) throws {
    try RoundTrip.check(ExtendedJSON.text(value)) { text in
      ExtendedJSON.text(try ExtendedJSON.read(Data(text.utf8)))
    }
  }
}
