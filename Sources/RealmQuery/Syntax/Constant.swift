import RealmStorage

extension QuerySyntax {
  /// A constant in the text of a query.
  public enum Constant: Sendable, Equatable {
    /// Null, a boolean, a whole number, a string, data, a date, a UUID or an object id. `O<n>` is a link, and
    /// `L<t>:<n>` is a link of a mixed value.
    case value(Value)
    /// A number with a fraction, an exponent or the suffix `f`; or infinity or NaN.
    case real(RealLiteral)
    /// `obj('Class', key)`: the object of the class with this primary key. Only RQL has it.
    case object(class: String, key: ObjectKey)
  }

  /// A primary key in `obj('Class', key)`.
  public enum ObjectKey: Sendable, Equatable {
    /// A whole number, a string, a UUID or an object id.
    case value(Value)
    /// The argument at this position.
    case argument(Int)
  }

  /// A number with its digits as they are written, so that it can be read exactly as a decimal.
  ///
  /// Two literals are equal if their texts and their sizes are equal.
  public struct RealLiteral: Sendable, Hashable {
    /// The digits with the sign and the exponent, but without the suffix `f`; or `inf` or `nan`, with or without a
    /// sign.
    public let text: String
    /// Whether the number has the suffix `f`, so that it is one of 32 bits.
    public let isFloat: Bool

    init(text: String, isFloat: Bool) {
      self.text = text
      self.isFloat = isFloat
    }

    /// Makes a literal of 64 bits. A NaN loses its payload and its sign.
    public init(_ number: Double) {
      self.init(text: number.isNaN ? "nan" : "\(number)", isFloat: false)
    }

    /// Makes a literal of 32 bits. Infinities and NaN become literals of 64 bits, with the same value.
    public init(_ number: Float) {
      self.init(text: number.isNaN ? "nan" : "\(number)", isFloat: number.isFinite)
    }

    /// The number, rounded to 64 bits; a float is rounded to 32 bits first.
    public var number: Double {
      // The standard library reads all forms of numbers in the languages except `1.` and `1.e5`, to which a digit is
      // added.
      if let number = isFloat ? Float(text).map({ Double($0) }) : Double(text) { return number }
      let padded = text.hasSuffix(".") ? text + "0" : text
      let readable = padded.replacing(".e", with: ".0e").replacing(".E", with: ".0E")
      return isFloat ? Double(Float(readable) ?? .nan) : Double(readable) ?? .nan
    }
  }

  /// A shape on the globe, as `GEOWITHIN` takes it. Only its form is checked.
  public enum GeoShape: Sendable, Equatable {
    /// `geoBox`: two opposite corners.
    case box(GeoPoint, GeoPoint)
    /// `geoCircle`: the centre, and the radius in radians.
    case circle(center: GeoPoint, radius: Coordinate)
    /// `geoPolygon`: rings of points. The rings after the first one are holes.
    case polygon([[GeoPoint]])
  }

  /// A point on the globe.
  public struct GeoPoint: Sendable, Equatable {
    /// The longitude, in degrees; positive in the east.
    public var longitude: Coordinate
    /// The latitude, in degrees; positive in the north.
    public var latitude: Coordinate
    /// The height, which no test uses; nil if there is none.
    public var altitude: Double?

    /// Makes a point.
    public init(longitude: Coordinate, latitude: Coordinate, altitude: Double? = nil) {
      self.longitude = longitude
      self.latitude = latitude
      self.altitude = altitude
    }
  }

  /// A coordinate of a point, or a radius.
  public enum Coordinate: Sendable, Equatable {
    /// A number.
    case number(Double)
    /// The argument at this position.
    case argument(Int)
  }
}
