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
    /// The names of types at the top of a file, and of those in extensions behind what is extended, are followed to the
    /// one subject that declares them. Those that several subjects declare are not followed, and neither are functions and
    /// members: whose they are, only a compiler knows. A type of the same name hides another one where it is declared around
    /// the mention: in the file, in a type that the mention is in, or in what that type inherits.
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
