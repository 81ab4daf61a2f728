/// A violation of the layer contract, at a place in the package.
public struct Finding: Hashable, Sendable {
    /// The violated rule.
    public let rule: Rule
    /// The location of the violation.
    public let location: SourceLocation
    /// The edge concerned, such as `Entities → Infrastructure`, or a single name if the finding is not about an edge.
    public let edge: String
    /// The problem, in a sentence.
    public let message: String
    /// How to fix the problem, in a sentence.
    public let remedy: String

    /// Creates a finding.
    public init(rule: Rule, location: SourceLocation, edge: String, message: String, remedy: String) {
        self.rule = rule
        self.location = location
        self.edge = edge
        self.message = message
        self.remedy = remedy
    }
}

extension Finding: Comparable {
    /// Orders findings by file and line.
    public static func < (one: Finding, other: Finding) -> Bool {
        if one.location != other.location { return one.location < other.location }
        return (one.rule.rawValue, one.edge, one.message) < (other.rule.rawValue, other.edge, other.message)
    }
}

/// A line of a file.
public struct SourceLocation: Hashable, Sendable {
    /// The file's path relative to the package root, with `/` as the separator.
    public let file: String
    /// The line number, starting at 1.
    public let line: Int

    /// Creates a location.
    public init(file: String, line: Int) {
        self.file = file
        self.line = line
    }
}

extension SourceLocation: Comparable {
    /// Orders locations by file, then by line.
    public static func < (one: SourceLocation, other: SourceLocation) -> Bool {
        (one.file, one.line) < (other.file, other.line)
    }
}

extension SourceLocation: CustomStringConvertible {
    /// The location in compiler format: `file:line`.
    public var description: String { "\(file):\(line)" }
}

/// A rule of the layer contract.
public enum Rule: String, Sendable, CaseIterable {
    /// Every target is in a ring, and every ring has a target.
    case targetsMatchRings = "targets-match-rings"
    /// Every declared dependency follows an edge of the diagram.
    case dependenciesFollowEdges = "dependencies-follow-edges"
    /// Every import is of a declared dependency that an edge leads to, or of a system module that the ring allows.
    case importsFollowEdges = "imports-follow-edges"
    /// Modules are not re-exported, and public imports appear in the public interface.
    case nothingIsReexported = "nothing-is-reexported"
    /// Only a ring's own tests import its internals.
    case testableByOwnTests = "testable-by-own-tests"
    /// A ring uses only the packages that the diagram names for it.
    case packagesAreNamed = "packages-are-named"
    /// The folders of a target do not use each other in a cycle.
    case noCycleOfSubjects = "no-cycle-of-subjects"
    /// A ring links only the libraries, and passes only the unsafe flags, that the diagram names for it.
    case buildSettingsAreNamed = "build-settings-are-named"
    /// Code is not reached without an import.
    case noBackDoors = "no-back-doors"
    /// The compiler rejects members of modules that a file does not import.
    case memberImportsAreVisible = "member-imports-are-visible"
    /// Everything that the diagram allows is used.
    case diagramIsUsed = "diagram-is-used"
    /// Every finding in the baseline still exists.
    case baselineIsCurrent = "baseline-is-current"

    /// A sentence that states the rule.
    public var title: String {
        switch self {
        case .targetsMatchRings: "Every target is in a ring, and every ring has a target."
        case .dependenciesFollowEdges: "A declared dependency follows an edge of the diagram."
        case .importsFollowEdges:
            "An import is of a declared dependency that an edge leads to, or of a system module the ring allows."
        case .nothingIsReexported:
            "Nothing is exported again, and a public import is of what the public interface shows."
        case .testableByOwnTests: "Only a ring's own test target sees its internals."
        case .packagesAreNamed: "A ring uses the packages that the diagram names for it."
        case .noCycleOfSubjects: "The folders of a target do not use each other in a circle."
        case .buildSettingsAreNamed:
            "A ring links the libraries, and passes the unsafe flags, that the diagram names for it."
        case .noBackDoors: "No code is reached past the imports, by the name of its class, type or symbol."
        case .memberImportsAreVisible:
            "Every Swift target enables MemberImportVisibility, so that a file uses members only of what it imports."
        case .diagramIsUsed: "What the diagram allows is used."
        case .baselineIsCurrent: "What the baseline records is still there."
        }
    }

    /// A sentence that states why the rule exists.
    public var reason: String {
        switch self {
        case .targetsMatchRings:
            "What is in no ring is held to no rule, and a ring without a target is a rule about nothing."
        case .dependenciesFollowEdges:
            "A dependency that points outward makes the inner ring change whenever the outer one does."
        case .importsFollowEdges:
            "SwiftPM builds an import of whatever happens to be built already, so the manifest alone holds nobody to it."
        case .nothingIsReexported:
            "Who is given a module without naming it depends on it without knowing, and so does everybody behind."
        case .testableByOwnTests:
            "Internals that somebody else's tests reach into cannot be changed by those who own them."
        case .packagesAreNamed:
            "Every package is a decision that each ring outside inherits; it is made in the diagram, not in passing."
        case .noCycleOfSubjects:
            "Subjects that use each other in a circle cannot be understood, moved or taken one by one."
        case .buildSettingsAreNamed:
            "A linked library or an unsafe flag gives a ring what it neither imports nor declares."
        case .noBackDoors:
            "Code that is found by its name at run time, or by its symbol, needs no import, so no other rule sees it."
        case .memberImportsAreVisible:
            "Without it, the compiler accepts the members of every module that any other file of the target imports."
        case .diagramIsUsed:
            "An edge that nobody uses lets the next mistake pass, and tells readers what is not so."
        case .baselineIsCurrent:
            "A record of what is mended would let the same mistake come back."
        }
    }
}

/// Information for readers of a report that does not fail the check.
public struct Note: Hashable, Sendable {
    /// The location that the note is about.
    public let location: SourceLocation
    /// The message, in one or two sentences.
    public let message: String

    /// Creates a note.
    public init(location: SourceLocation, message: String) {
        self.location = location
        self.message = message
    }
}
