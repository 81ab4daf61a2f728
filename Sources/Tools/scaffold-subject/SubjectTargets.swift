import LayerContract

/// The targets that a subject's files are written to.
struct SubjectTargets {
    private let targets: [FilePlace: PackageTarget]

    /// Finds the target of each role and its tests.
    ///
    /// The target of a role has the name in `names`. Without one, it is the target of the diagram's ring for the role. Without
    /// such a ring, it has the role's default name. If there is no target for test doubles, the use cases' tests hold them.
    ///
    /// - Parameters:
    ///   - names: The target names that the user gave.
    ///   - diagram: The package's layer diagram, or `nil` if there is none.
    ///   - known: All targets that the plugin found.
    /// - Throws: ``ScaffoldError/noTargets(_:among:)`` or ``ScaffoldError/severalTargets(_:_:)``.
    init(names: [TargetRole: String], diagram: LayerDiagram?, among known: [PackageTarget]) throws(ScaffoldError) {
        let own = Dictionary(known.filter(\.isInPackage).map { ($0.name, $0) }) { first, _ in first }
        let rings = diagram?.rings ?? []
        var targets: [FilePlace: PackageTarget] = [:]
        var missing: [ScaffoldError.MissingTarget] = []
        for role in TargetRole.allCases {
            let given = if let name = names[role] { name } else { try Self.name(of: role, in: rings) }
            let name = given ?? role.defaultName
            let ring = rings.first { $0.targets.contains(name) }
            let tests = (ring?.testTargets ?? []).first { own[$0] != nil } ?? "\(name)Tests"
            targets[.sources(role)] = own[name]
            targets[.tests(role)] = own[tests]
            let isOptional = role == .doubles
            if own[name] == nil {
                if !isOptional || given != nil { missing.append(.init(role: role, name: name, isTests: false)) }
            } else if own[tests] == nil, !isOptional {
                missing.append(.init(role: role, name: tests, isTests: true))
            }
        }
        guard missing.isEmpty else { throw .noTargets(missing, among: own.keys.sorted()) }
        let useCaseTests = targets[.tests(.useCases)]
        targets[.sources(.doubles)] = targets[.sources(.doubles)] ?? useCaseTests
        targets[.tests(.doubles)] = targets[.tests(.doubles)] ?? useCaseTests
        self.targets = targets
    }

    /// The target that holds the files of a place.
    subscript(place: FilePlace) -> PackageTarget {
        guard let target = targets[place] else { preconditionFailure("The initializer finds a target for \(place).") }
        return target
    }

    private static func name(of role: TargetRole, in rings: [Ring]) throws(ScaffoldError) -> String? {
        let exact = rings.filter { $0.name == role.defaultName }
        let matching = exact.isEmpty ? rings.filter { $0.name.hasSuffix(role.ending) } : exact
        let names = matching.flatMap(\.targets)
        guard names.count < 2 else { throw .severalTargets(role, names) }
        return names.first
    }
}
