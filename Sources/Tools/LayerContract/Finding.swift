/// A violation of the layer contract, at a place in the package.
///
/// ```swift
/// func reviewComment(on finding: Finding) -> String {
///     "**\(finding.edge)** (\(finding.location)): \(finding.message) \(finding.rule.reason) \(finding.remedy)"
/// }
/// ```
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
///
/// ```swift
/// print(SourceLocation(file: "Package.swift", line: 12))  // Package.swift:12
/// ```
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

extension SourceLocation: Comparable, CustomStringConvertible {
    /// Orders locations by file, then by line.
    public static func < (one: SourceLocation, other: SourceLocation) -> Bool {
        (one.file, one.line) < (other.file, other.line)
    }

    /// The location in compiler format: `file:line`.
    public var description: String { "\(file):\(line)" }
}

/// A rule of the layer contract.
///
/// ```swift
/// func findingsThatFail(_ report: LayerReport) -> [Finding] {
///     report.findings.filter { $0.rule != .noCycleOfSubjects }
/// }
/// ```
public enum Rule: String, Sendable, CaseIterable {
    /// Every target is in a ring, and every ring has a target.
    case targetsMatchRings = "targets-match-rings"
    /// Every declared dependency follows an edge of the diagram.
    case dependenciesFollowEdges = "dependencies-follow-edges"
    /// Every imported module is a declared dependency that an edge leads to, or a system module that the ring allows.
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
    /// Code does not reach other code without an import.
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
        case .dependenciesFollowEdges: "Every declared dependency follows an arrow of the diagram."
        case .importsFollowEdges:
            "Every imported module is a declared dependency that an arrow leads to, or a system module that the ring allows."
        case .nothingIsReexported: "Modules are not re-exported, and a public import appears in the public interface."
        case .testableByOwnTests: "Only a ring's own tests see its internals."
        case .packagesAreNamed: "A ring uses only the packages that the diagram names for it."
        case .noCycleOfSubjects: "The folders of a target do not use each other in a cycle."
        case .buildSettingsAreNamed:
            "A ring links only the libraries, and passes only the unsafe flags, that the diagram names for it."
        case .noBackDoors: "Code does not reach other code without an import, by the name of a class, type or symbol."
        case .memberImportsAreVisible:
            "Every Swift target enables MemberImportVisibility, so that a file uses only members of its imports."
        case .diagramIsUsed: "Everything that the diagram allows is used."
        case .baselineIsCurrent: "Every finding that the baseline records still exists."
        }
    }

    /// A sentence that states why the rule exists.
    public var reason: String {
        switch self {
        case .targetsMatchRings:
            "No rule applies to a target outside of all rings, and a ring without a target has no effect."
        case .dependenciesFollowEdges:
            "A dependency that points outward makes the inner ring change whenever the outer one does."
        case .importsFollowEdges:
            "SwiftPM accepts an import of any module that happens to be built, so the manifest alone does not prevent it."
        case .nothingIsReexported:
            "A target that gets a module without naming it depends on it unknowingly, and so does every user of that target."
        case .testableByOwnTests: "Internals that other tests use can no longer be changed freely."
        case .packagesAreNamed:
            "Every package is a decision that the outer rings inherit, so it belongs in the diagram."
        case .noCycleOfSubjects:
            "Folders that use each other in a cycle cannot be understood, moved or reused one at a time."
        case .buildSettingsAreNamed:
            "A linked library or an unsafe flag gives a ring code that it neither imports nor declares."
        case .noBackDoors:
            "Code that is found by name at run time, or by its symbol, needs no import, so no other rule notices it."
        case .memberImportsAreVisible:
            "Without it, the compiler accepts the members of every module that any other file of the target imports."
        case .diagramIsUsed: "An unused permission lets the next mistake pass, and misleads readers."
        case .baselineIsCurrent: "A record of a fixed finding would let the same mistake come back."
        }
    }
}
