/// The folders of a target, and who of them mentions whom.
struct Subjects {
    /// A mention of one subject in another.
    struct Use {
        let name: String
        let location: SourceLocation
    }

    /// The mentions, by who mentions and who is mentioned.
    private(set) var uses: [String: [String: [Use]]] = [:]

    /// Reads the sources of one target.
    ///
    /// The names of types and of functions at the top of a file are followed to the one subject that declares them. Those
    /// that several subjects declare, or that the mentioning one gives to something of its own, are not followed, and
    /// neither are members: whose they are, only a compiler knows.
    init(_ sources: [SourceFacts], moduleName: String) {
        let types = Self.owners(of: sources) { $0.declarations.topLevelTypes.union($0.declarations.extensionTypes) }
        let nestedTypes = Self.owners(of: sources) { $0.declarations.extensionTypes }
        let functions = Self.owners(of: sources) { $0.declarations.topLevelFunctions }
        let own = Dictionary(grouping: sources) { $0.subject ?? "" }.mapValues { sources in
            sources.reduce(into: Set<String>()) {
                $0.formUnion($1.declarations.types)
                $0.formUnion($1.mentions.given)
            }
        }
        for source in sources {
            guard let subject = source.subject, let own = own[subject] else { continue }
            // Behind the module's name stands what is at its top.
            let members = source.mentions.names[moduleName] == nil ? nestedTypes : types
            for (mentions, owners) in [
                (source.mentions.names, types), (source.mentions.members, members), (source.mentions.calls, functions),
            ] {
                for (name, line) in mentions where !own.contains(name) {
                    guard let owner = owners[name], owner != subject else { continue }
                    let use = Use(name: name, location: SourceLocation(file: source.path, line: line))
                    uses[subject, default: [:]][owner, default: []].append(use)
                }
            }
        }
    }

    /// The mentions of one subject in another, by file and line.
    func uses(of used: String, by user: String) -> [Use] {
        (uses[user]?[used] ?? []).sorted { ($0.location, $0.name) < ($1.location, $1.name) }
    }

    /// The one subject that declares each name.
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
