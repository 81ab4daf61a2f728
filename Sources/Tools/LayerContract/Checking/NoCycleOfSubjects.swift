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

    /// Returns a finding for each step that must be removed to leave no cycle. In each cycle, that is the step with the fewest
    /// uses, because it is the easiest to remove.
    private func findings(_ subjects: Subjects, of target: TargetDescription) -> [Finding] {
        var graph = Graph(subjects.uses.mapValues { Array($0.keys) })
        var findings: [Finding] = []
        while let cycle = graph.cycle() {
            let steps = zip(cycle, cycle.dropFirst() + cycle.prefix(1)).map { user, used in
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
            message: "The folders of \(target.name) use each other in a cycle: \(description).",
            remedy: "Move what both need into a folder of its own, or move \(use.name) to the folder that uses it."
        )
    }
}

/// The subjects of a target, which are its folders, and their mentions of each other.
struct Subjects {
    /// A mention of one subject in another.
    struct Use {
        let name: String
        let location: SourceLocation
    }

    /// The mentions, by the mentioning subject and then by the mentioned one.
    private(set) var uses: [String: [String: [Use]]] = [:]

    /// Creates the mentions from the sources of one target.
    ///
    /// A name counts as a mention if exactly one subject declares it, either as a file-level type or as a type in an
    /// extension. The latter must be qualified by the extended type. Names that several subjects declare are ignored.
    /// So are functions and members, because only the compiler can resolve them. A type of the same name shadows the
    /// other one if it is declared in the file, in a type that encloses the mention, or in a type that an enclosing
    /// type inherits from.
    init(_ sources: [SourceFacts], moduleName: String) {
        let types = Self.owners(of: sources) { $0.declarations.topLevelTypes }
        let extensionTypes = Self.owners(of: sources) { $0.declarations.extensionTypes }
        let nested = NestedTypes(sources.map(\.declarations.scopes), moduleName: moduleName)
        for source in sources {
            guard let subject = source.subject else { continue }
            var followed: Set<String> = []
            for mention in source.mentions.names
            where !source.declarations.parameters.contains(mention.name) && !followed.contains(mention.name)
                && !nested.shadow(mention.name, in: mention.scope, of: source.declarations.scopes)
            {
                followed.insert(mention.name)
                add(mention.name, mention.line, types[mention.name], to: subject, in: source)
            }
            for (name, line) in source.mentions.members {
                let top = name.hasPrefix("\(moduleName).") ? String(name.dropFirst(moduleName.count + 1)) : nil
                add(name, line, top.flatMap { types[$0] } ?? extensionTypes[name], to: subject, in: source)
            }
        }
    }

    private mutating func add(_ name: String, _ line: Int, _ owner: String?, to subject: String, in source: SourceFacts)
    {
        guard let owner, owner != subject else { return }
        let use = Use(name: name, location: SourceLocation(file: source.path, line: line))
        uses[subject, default: [:]][owner, default: []].append(use)
    }

    /// Returns the mentions of one subject in another, by file and line.
    func uses(of used: String, by user: String) -> [Use] {
        (uses[user]?[used] ?? []).sorted { ($0.location, $0.name) < ($1.location, $1.name) }
    }

    /// Returns the subject that declares each name, for names that exactly one subject declares.
    private static func owners(
        of sources: [SourceFacts],
        _ names: (SourceFacts) -> Set<String>
    ) -> [String: String] {
        var owners: [String: Set<String>] = [:]
        for source in sources {
            for name in names(source) { owners[name, default: []].insert(source.subject ?? "") }
        }
        return owners.compactMapValues { $0.count == 1 ? $0.first : nil }.filter { !$0.value.isEmpty }
    }
}
