extension QuerySyntax {
  /// A way from an object to a value, one step after another.
  public struct Path: Sendable, Equatable {
    /// Where the path starts.
    public var start: Start
    /// The steps from there.
    public var steps: [Step]
    /// Where it stands in the text.
    public var range: SourceRange

    /// Makes a path; `range` may be left out where no text was read.
    public init(_ start: Start = .object, steps: [Step], range: SourceRange = .none) {
      self.start = start
      self.steps = steps
      self.range = range
    }

    /// Where a path starts.
    public enum Start: Sendable, Equatable {
      /// The object that is tested.
      case object
      /// The object that is tested, by the word SELF. Only formats say it.
      case selfWord
      /// The element of a subquery that has this variable, with its `$`. RQL and formats have the same syntax for it.
      case variable(String)
      /// The key path in the argument at this position: `$K0`. Only RQL says it: the parser of formats puts the steps of
      /// the argument of `%K` in its place.
      case argument(Int)
    }
  }

  /// A step of a path.
  public enum Step: Sendable, Equatable {
    /// To the property of this name, or the value that a map has for this key.
    case name(String)
    /// To the element at this index. Only formats have negative ones.
    case index(Int64)
    /// To the value of a map for this key.
    case key(String)
    /// To the element or value that the argument at this position names, by index or key.
    case argument(Int)
    /// To the element or value that the value of this node names. Only formats say it.
    case computed(Int)
    /// `[FIRST]`: to the first element.
    case first
    /// `[LAST]`: to the last element.
    case last
    /// `[*]`, or `[%K]` with the argument "#any": to every element or value.
    case all
    /// `[SIZE]`: to the number of elements.
    case size
    /// `@keys` in RQL, `@allKeys` in formats: to the keys of a map.
    case keys
    /// `@values` in RQL, `@allValues` in formats: to the values of a map.
    case values
    /// `@count` and `@size`: to the number of elements or bytes.
    case count
    /// `@type`: to the name of the type of a value.
    case type
    /// `@links.Class.property`: to the objects of the class whose property links to the object.
    case links(from: String, property: String)
    /// `@links` without a class and a property.
    case allLinks
    /// `@min @max @sum @avg`: to one number out of many.
    case aggregate(Aggregate)
    /// Another operator of formats, without its `@`. None has a meaning in queries: whoever binds names refuses it.
    case unknownOperator(String)
  }

  /// How many values become one.
  public enum Aggregate: String, Sendable, Hashable, CaseIterable {
    case min, max, sum
    case average = "avg"
  }
}
