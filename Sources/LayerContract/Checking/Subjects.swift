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
    /// A name is followed to the one subject that declares it at the top of a file, or adds it to a type in a plain
    /// extension. Names that several subjects declare, or that the mentioning subject declares itself, are not followed.
    init(_ sources: [SourceFacts], moduleName: String) {
        let types = Self.owners(of: sources) { $0.declarations.topLevelTypes }
        let functions = Self.owners(of: sources) { $0.declarations.topLevelFunctions }
        let members = Self.memberOwners(of: sources)
        var ownTypes: [String: Set<String>] = [:]
        for source in sources {
            ownTypes[source.subject ?? "", default: []].formUnion(source.declarations.types)
        }
        for source in sources {
            guard let subject = source.subject else { continue }
            var mentions = source.mentions.names
            if mentions[moduleName] != nil { mentions.merge(source.mentions.members) { first, _ in first } }
            for (name, line) in mentions where ownTypes[subject]?.contains(name) != true {
                add(name, line, types[name], to: subject, in: source)
            }
            for (name, line) in source.mentions.calls { add(name, line, functions[name], to: subject, in: source) }
            for (name, line) in source.mentions.members { add(name, line, members[name], to: subject, in: source) }
        }
    }

    private mutating func add(_ name: String, _ line: Int, _ owner: String?, to subject: String, in source: SourceFacts)
    {
        guard let owner, owner != subject else { return }
        let use = Use(name: name, location: SourceLocation(file: source.path, line: line))
        uses[subject, default: [:]][owner, default: []].append(use)
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

    /// The one subject that adds each member to a type of somebody else's.
    private static func memberOwners(of sources: [SourceFacts]) -> [String: String] {
        var taken: Set<String> = []
        for source in sources { taken.formUnion(source.declarations.members) }
        let owned = owners(of: sources) { source in
            source.declarations.extensionMembers.values.reduce(into: []) { $0.formUnion($1) }
        }
        return owned.filter { !taken.contains($0.key) && !StandardLibrary.members.contains($0.key) }
    }
}
