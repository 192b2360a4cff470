import RealmStorage

extension QuerySyntax {
  /// A value that stands in the text of a query.
  public enum Constant: Sendable, Equatable {
    /// Null, a boolean, an integer, a string, data, a date, a UUID or an object id. `O<n>` is a link, `L<t>:<n>` a typed
    /// link.
    case value(Value)
    /// A number with a fraction or an exponent, or one that has the suffix `f`, or an infinity, or NaN.
    case real(RealLiteral)
    /// `obj('Class', key)`: the object of the class that has this primary key. Only RQL says it.
    case object(class: String, key: ObjectKey)
  }

  /// A primary key in `obj('Class', key)`.
  public enum ObjectKey: Sendable, Equatable {
    /// An integer, a string, a UUID or an object id.
    case value(Value)
    /// The argument at this position.
    case argument(Int)
  }

  /// A number by its digits, so that it can be read as a decimal exactly.
  ///
  /// Two are equal where their texts are the same.
  public struct RealLiteral: Sendable, Hashable {
    /// The digits, with sign and exponent but without the suffix `f`; or `inf` or `nan` with or without a sign.
    public let text: String
    /// Whether the suffix `f` stood behind it: then it is a number of 32 bits.
    public let isFloat: Bool

    init(text: String, isFloat: Bool) {
      self.text = text
      self.isFloat = isFloat
    }

    /// Makes a literal of 64 bits from a number. A NaN loses its payload and its sign.
    public init(_ number: Double) {
      self.init(text: number.isNaN ? "nan" : "\(number)", isFloat: false)
    }

    /// Makes a literal of 32 bits from a number. Infinities and NaNs are literals of 64 bits, which have the same value.
    public init(_ number: Float) {
      self.init(text: number.isNaN ? "nan" : "\(number)", isFloat: number.isFinite)
    }

    /// The number, rounded to 64 bits; a float is rounded to 32 bits first.
    public var number: Double {
      // The standard library reads every form of the languages but `1.` and `1.e5`, which are padded.
      if let number = isFloat ? Float(text).map({ Double($0) }) : Double(text) { return number }
      let padded = text.hasSuffix(".") ? text + "0" : text
      let readable = padded.replacing(".e", with: ".0e").replacing(".E", with: ".0E")
      return isFloat ? Double(Float(readable) ?? .nan) : Double(readable) ?? .nan
    }
  }

  /// A shape on the globe, as `GEOWITHIN` takes it. Nothing is checked of it but its form.
  public enum GeoShape: Sendable, Equatable {
    /// `geoBox`: two opposite corners.
    case box(GeoPoint, GeoPoint)
    /// `geoCircle`: the centre, and the radius in radians.
    case circle(center: GeoPoint, radius: Coordinate)
    /// `geoPolygon`: rings of points, of which those behind the first are holes.
    case polygon([[GeoPoint]])
  }

  /// A point on the globe.
  public struct GeoPoint: Sendable, Equatable {
    /// Degrees east.
    public var longitude: Coordinate
    /// Degrees north.
    public var latitude: Coordinate
    /// The height, which no test looks at; nil without.
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
