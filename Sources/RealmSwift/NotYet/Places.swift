/// An area on the globe.
@available(
  *, unavailable,
  message:
    "RLMGeospatial is not there yet. Store latitude and longitude as two properties of type Double, and compare each with its bounds in the query."
)
public protocol RLMGeospatial {}

/// A point on the globe.
@available(
  *, unavailable,
  message: "GeoPoint is not there yet. Store latitude and longitude as two properties of type Double."
)
public final class GeoPoint: Sendable {
  public var latitude: Double { unavailable() }
  public var longitude: Double { unavailable() }
  public var altitude: Double { unavailable() }

  public init?(latitude: Double, longitude: Double) { unavailable() }
  public init?(latitude: Double, longitude: Double, altitude: Double) { unavailable() }
}

/// The area between two latitudes and two longitudes.
@available(
  *, unavailable,
  message:
    "GeoBox is not there yet. Store latitude and longitude as two properties of type Double, and compare each with its bounds in the query."
)
public final class GeoBox: RLMGeospatial, Sendable {
  public var bottomLeft: GeoPoint { unavailable() }
  public var topRight: GeoPoint { unavailable() }

  public init(bottomLeft: GeoPoint, topRight: GeoPoint) { unavailable() }
  public init?(bottomLeft: (Double, Double), topRight: (Double, Double)) { unavailable() }
}

/// The area within a ring of points, without holes in it.
@available(
  *, unavailable,
  message:
    "GeoPolygon is not there yet. Store latitude and longitude as two properties of type Double, query the box around the polygon, and test the objects found in Swift code."
)
public final class GeoPolygon: RLMGeospatial, Sendable {
  public var outerRing: [GeoPoint] { unavailable() }
  public var holes: [[GeoPoint]]? { unavailable() }

  public init?(outerRing: [GeoPoint]) { unavailable() }
  public init?(outerRing: [GeoPoint], holes: [[GeoPoint]]) { unavailable() }
  public init?(outerRing: [(Double, Double)], holes: [[(Double, Double)]]) { unavailable() }
  public init?(outerRing: [(Double, Double)], holes: [(Double, Double)]...) { unavailable() }
}

/// A length on the globe.
@available(
  *, unavailable,
  message: "Distance is not there yet. Store a length as a property of type Double."
)
public final class Distance: Sendable {
  public var radians: Double { unavailable() }

  public static func kilometers(_ kilometers: Double) -> Distance? { unavailable() }
  public static func miles(_ miles: Double) -> Distance? { unavailable() }
  public static func degrees(_ degrees: Double) -> Distance? { unavailable() }
  public static func radians(_ radians: Double) -> Distance? { unavailable() }
  public func asKilometers() -> Double { unavailable() }
  public func asMiles() -> Double { unavailable() }
  public func asDegrees() -> Double { unavailable() }
}

/// The area around a point.
@available(
  *, unavailable,
  message:
    "GeoCircle is not there yet. Store latitude and longitude as two properties of type Double, query the box around the circle, and test the distance of the objects found in Swift code."
)
public final class GeoCircle: RLMGeospatial, Sendable {
  public var center: GeoPoint { unavailable() }
  public var radians: Double { unavailable() }

  public init(center: GeoPoint, radius: Distance) { unavailable() }
  public init?(center: (Double, Double), radius: Distance) { unavailable() }
  public init?(center: (Double, Double), radiusInRadians: Double) { unavailable() }
}

extension Query where T: OptionalProtocol, T.Wrapped: EmbeddedObject {
  @available(
    *, unavailable,
    message:
      "geoWithin is not there yet. Store latitude and longitude as two properties of type Double, and compare each with its bounds in the query."
  )
  public func geoWithin<Area: RLMGeospatial>(_ area: Area) -> Query<Bool> { unavailable() }
}
