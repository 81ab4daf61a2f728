/// Rule 7: the subjects of a ring can be read one after the other.
struct NoCycleOfSubjects {
    private let package: CheckedPackage

    init(_ package: CheckedPackage) {
        self.package = package
    }

    /// Tests are read beside what they test, so their folders may mention each other.
    var findings: [Finding] {
        let sources = Dictionary(grouping: package.sources, by: \.target)
        return package.description.targets.filter { $0.kind != .test }.flatMap { target in
            findings(Subjects(sources[target.name] ?? [], moduleName: target.moduleName), of: target)
        }
    }

    private func findings(_ subjects: Subjects, of target: TargetDescription) -> [Finding] {
        Graph(subjects.uses.mapValues { Array($0.keys) }).circles().compactMap { circle in
            let steps = zip(circle, circle.dropFirst() + circle.prefix(1)).map { user, used in
                (user: user, used: used, uses: (subjects.uses[user]?[used] ?? []).sorted { $0.location < $1.location })
            }
            // The step with the fewest uses is the easiest to take back.
            guard let lightest = steps.min(by: { ($0.uses.count, $0.user) < ($1.uses.count, $1.user) }),
                let use = lightest.uses.first
            else { return nil }
            let way = steps.map { step in
                "\(step.user) → \(step.used) (\(step.uses.first.map { "\($0.name) in \($0.location)" } ?? ""))"
            }
            return Finding(
                rule: .noCycleOfSubjects,
                location: use.location,
                edge: "\(target.name)/\(lightest.user) → \(target.name)/\(lightest.used)",
                message: "The folders of \(target.name) use each other in a circle: \(way.joined(separator: ", ")).",
                remedy: "Move what both need into a folder of its own, or \(use.name) to where it is used."
            )
        }
    }
}
