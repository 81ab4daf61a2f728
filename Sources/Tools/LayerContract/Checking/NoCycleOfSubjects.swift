/// Rule 7: the subjects of a target must not use each other in a cycle.
struct NoCycleOfSubjects {
    /// A use of one subject by another, as a step in a cycle.
    private struct Step {
        let user: String
        let used: String
        let uses: [Subjects.Use]

        var description: String {
            guard let first = uses.first else { return "\(user) → \(used)" }
            return "\(user) → \(used) (\(first.name) in \(first.location))"
        }
    }

    private let package: CheckedPackage

    init(_ package: CheckedPackage) {
        self.package = package
    }

    /// The findings for all targets except tests. Test folders may mention each other, because tests are read alongside the
    /// code that they test.
    var findings: [Finding] {
        let sources = Dictionary(grouping: package.sources, by: \.target)
        return package.description.targets.filter { $0.kind != .test }.flatMap { target in
            findings(Subjects(sources[target.name] ?? [], moduleName: target.moduleName), of: target)
        }
    }

    /// Returns a finding for each step to remove until no cycle is left. In each cycle, it picks the step with the fewest
    /// uses, which is the easiest to remove.
    private func findings(_ subjects: Subjects, of target: TargetDescription) -> [Finding] {
        var graph = Graph(subjects.uses.mapValues { Array($0.keys) })
        var findings: [Finding] = []
        while let circle = graph.circle() {
            let steps = zip(circle, circle.dropFirst() + circle.prefix(1)).map { user, used in
                Step(user: user, used: used, uses: subjects.uses(of: used, by: user))
            }
            guard let lightest = steps.min(by: { ($0.uses.count, $0.user) < ($1.uses.count, $1.user) }) else { break }
            graph.remove(lightest.user, lightest.used)
            findings += lightest.uses.prefix(1).map { finding($0, lightest, steps, of: target) }
        }
        return findings
    }

    private func finding(_ use: Subjects.Use, _ step: Step, _ way: [Step], of target: TargetDescription) -> Finding {
        let description = way.map(\.description).joined(separator: ", ")
        return Finding(
            rule: .noCycleOfSubjects,
            location: use.location,
            edge: "\(target.name)/\(step.user) → \(target.name)/\(step.used)",
            message: "The folders of \(target.name) use each other in a circle: \(description).",
            remedy: "Move what both need into a folder of its own, or \(use.name) to where it is used."
        )
    }
}
