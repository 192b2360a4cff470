extension QuerySyntax {
  /// A path from an object to a value, step by step.
  public struct Path: Sendable, Equatable {
    /// Where the path starts.
    public var start: Start
    /// The steps, in order.
    public var steps: [Step]
    /// The place of the path in the text.
    public var range: SourceRange

    /// Makes a path. `range` can be left out if no text was parsed.
    public init(_ start: Start = .object, steps: [Step], range: SourceRange = .none) {
      self.start = start
      self.steps = steps
      self.range = range
    }

    /// Where a path starts.
    public enum Start: Sendable, Equatable {
      /// The tested object.
      case object
      /// The tested object, by the word SELF. Only formats have it.
      case selfWord
      /// The element of a subquery with this variable, which has its `$`. It is written alike in RQL and formats.
      case variable(String)
      /// The key path in the argument at this position: `$K0`. Only RQL has it: the parser of formats replaces `%K` by
      /// the steps of its argument.
      case argument(Int)
    }
  }

  /// A step of a path.
  public enum Step: Sendable, Equatable {
    /// Goes to the property with this name, or to the value of a map for this key.
    case name(String)
    /// Goes to the element at this index. Only formats have negative ones.
    case index(Int64)
    /// Goes to the value of a map for this key.
    case key(String)
    /// Goes to the element or value whose index or key is the argument at this position.
    case argument(Int)
    /// Goes to the element or value whose index or key is the value of the node with this index. Only formats have it.
    case computed(Int)
    /// `[FIRST]`: goes to the first element.
    case first
    /// `[LAST]`: goes to the last element.
    case last
    /// `[*]`, or `[%K]` with the argument "#any": goes to all elements or values.
    case all
    /// `[SIZE]`: goes to the number of elements.
    case size
    /// `@keys` in RQL, `@allKeys` in formats: goes to the keys of a map.
    case keys
    /// `@values` in RQL, `@allValues` in formats: goes to the values of a map.
    case values
    /// `@count` and `@size`: goes to the number of elements or bytes.
    case count
    /// `@type`: goes to the name of a value's type.
    case type
    /// `@links.Class.property`: goes to the objects of the class whose property links to this object.
    case links(from: String, property: String)
    /// `@links` without a class and a property.
    case allLinks
    /// `@min`, `@max`, `@sum` or `@avg`: makes one value of many.
    case aggregate(Aggregate)
    /// Another operator of formats, without its `@`. None of them has a meaning in queries: binding refuses it.
    case unknownOperator(String)
  }

  /// A way to make one value of many.
  public enum Aggregate: String, Sendable, Hashable, CaseIterable {
    /// The smallest value, the greatest value, and the sum.
    case min, max, sum
    /// The average.
    case average = "avg"
  }
}
