/// What the layer contract asks of a package, one rule a case.
public enum Rule: String, Sendable, CaseIterable {
    /// Every target is in a ring, and every ring has a target.
    case targetsMatchRings = "targets-match-rings"
    /// A declared dependency follows an edge of the diagram.
    case dependenciesFollowEdges = "dependencies-follow-edges"
    /// An import is of a declared dependency that an edge leads to, or of a system module that the ring allows.
    case importsFollowEdges = "imports-follow-edges"
    /// Nothing is exported again, and nothing is imported publicly that the public interface does not show.
    case nothingIsReexported = "nothing-is-reexported"
    /// Only a ring's own test target sees its internals.
    case testableByOwnTests = "testable-by-own-tests"
    /// A ring uses the packages that the diagram names for it.
    case packagesAreNamed = "packages-are-named"
    /// The folders of a target do not use each other in a circle.
    case noCycleOfSubjects = "no-cycle-of-subjects"
    /// What the diagram allows is used.
    case diagramIsUsed = "diagram-is-used"
    /// What the baseline records is still there.
    case baselineIsCurrent = "baseline-is-current"

    /// What the rule asks, in a sentence.
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
        case .diagramIsUsed: "What the diagram allows is used."
        case .baselineIsCurrent: "What the baseline records is still there."
        }
    }

    /// Why the rule exists.
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
        case .diagramIsUsed:
            "An edge that nobody uses lets the next mistake pass, and tells readers what is not so."
        case .baselineIsCurrent:
            "A record of what is mended would let the same mistake come back."
        }
    }
}
