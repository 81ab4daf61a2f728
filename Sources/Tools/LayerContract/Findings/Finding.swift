/// A place where the code and the diagram disagree.
public struct Finding: Hashable, Sendable {
    /// The rule that is broken.
    public let rule: Rule
    /// Where to look.
    public let location: SourceLocation
    /// What is between whom, such as `Entities → Infrastructure`; a single name where no edge is meant.
    public let edge: String
    /// What was found, in a sentence.
    public let message: String
    /// How to mend it, in a sentence.
    public let remedy: String

    /// A place where the code and the diagram disagree.
    public init(rule: Rule, location: SourceLocation, edge: String, message: String, remedy: String) {
        self.rule = rule
        self.location = location
        self.edge = edge
        self.message = message
        self.remedy = remedy
    }
}

extension Finding: Comparable {
    /// By file and line.
    public static func < (one: Finding, other: Finding) -> Bool {
        if one.location != other.location { return one.location < other.location }
        return (one.rule.rawValue, one.edge, one.message) < (other.rule.rawValue, other.edge, other.message)
    }
}
