import Accounts
import Foundation
import RealmInterchange

/// The JSON object in the body of a request. Only its texts, and the texts of objects in it, are kept.
package struct RequestBody {
  private let fields: [String: Field]

  private enum Field: Decodable {
    case text(String)
    case object([String: Field])
    case other

    init(from decoder: any Decoder) throws {
      if let text = try? decoder.singleValueContainer().decode(String.self) {
        self = .text(text)
      } else if let object = try? [String: Field](from: decoder) {
        self = .object(object)
      } else {
        self = .other
      }
    }
  }

  private static let mostBytes = 64 << 10

  /// - Throws: `AccountError` if the body is not a JSON object, or is too long. An empty body counts as an empty
  ///   object.
  package init(_ bytes: [UInt8]) throws {
    guard !bytes.isEmpty else {
      fields = [:]
      return
    }
    guard bytes.count <= Self.mostBytes else {
      throw AccountError(
        code: .badRequest, message: "The body has at most \(Self.mostBytes) bytes. Send less.")
    }
    do {
      fields = try JSONDecoder.decode([String: Field].self, fromOthers: Data(bytes))
    } catch {
      throw AccountError(code: .badRequest, message: "The body is no JSON object. Send one.")
    }
  }

  /// The texts of the object.
  package var texts: [String: String] {
    fields.compactMapValues { if case .text(let text) = $0 { text } else { nil } }
  }

  /// - Throws: `AccountError` if the object has no text with this name.
  func text(_ name: String) throws -> String {
    guard case .text(let text)? = fields[name] else {
      throw AccountError(code: .missingParameter, message: "The field \(name) is missing. Send it as a text.")
    }
    return text
  }

  /// What a client tells of its device.
  package var device: Accounts.Device {
    guard case .object(let options)? = fields["options"], case .object(let device)? = options["device"] else {
      return Accounts.Device()
    }
    func text(_ name: String) -> String? {
      if case .text(let text)? = device[name], !text.isEmpty { text } else { nil }
    }
    let name = [text("platform"), text("deviceName")].compactMap(\.self).joined(separator: " ")
    // A name that can't be shown is no reason to refuse a log-in, and neither is the id of another server.
    let shown = name.unicodeScalars.filter { scalar in
      Texts.isVisible(scalar) && scalar.properties.generalCategory != .privateUse
    }
    let id = text("deviceId").flatMap { Texts.isID($0) ? $0 : nil }
    let cut = String(String.UnicodeScalarView(shown.prefix(128)))
    return Accounts.Device(id: id, name: cut.isEmpty ? nil : cut)
  }
}
