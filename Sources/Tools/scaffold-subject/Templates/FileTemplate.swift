/// A file that every subject has, written out for an example: the blog entry.
///
/// Where the example's name stands in braces, the new subject's is filled in, in the same form: `{BlogEntry}`,
/// `{blogEntries}`, `{a blog entry}`. Lines are kept short enough for a name of 24 letters.
struct FileTemplate {
    /// Where the file belongs, relative to the package.
    let path: String
    /// What the file imports, a line each.
    let imports: [String]
    /// What stands below the imports.
    let text: String

    init(_ path: String, imports: [String] = [], text: String) {
        self.path = path
        self.imports = imports
        self.text = text
    }

    /// The file as a subject of this name has it.
    func file(for name: SubjectName) -> ScaffoldedFile {
        let head = imports.isEmpty ? "" : imports.joined(separator: "\n") + "\n\n"
        return ScaffoldedFile(path: Self.fill(path, name), contents: Self.fill(head + text + "\n", name))
    }

    private static func fill(_ text: String, _ name: SubjectName) -> String {
        [
            ("{BlogEntry}", name.singular), ("{BlogEntries}", name.plural),
            ("{blogEntry}", name.lowerSingular), ("{blogEntries}", name.lowerPlural),
            ("{blog entry}", name.proseSingular), ("{blog entries}", name.prosePlural),
            ("{Blog entries}", name.prosePlural.capitalizedSentence),
            ("{a blog entry}", name.proseSingular.withArticle),
            ("{A blog entry}", name.proseSingular.withArticle.capitalizedSentence),
        ].reduce(text) { text, form in text.replacing(form.0, with: form.1) }
    }
}

extension FileTemplate {
    /// All files of a subject, from the inside out, each ring's tests behind the ring.
    static let all = [
        entity, entityID, entityError, entityTests,
        repositoryPort, listUseCase, listError, listUseCaseTests,
        dto, upstreamRepository, listViewModel, listPresenter, upstreamRepositoryTests, listPresenterTests,
        inMemoryRepository, entityExample, inMemoryRepositoryTests,
        featureContainer, interactionContainer, featureContainerTests,
    ]
}

/// A file that is to be written for a subject.
struct ScaffoldedFile: Equatable {
    /// Where the file belongs, relative to the package.
    let path: String
    /// All of its text.
    let contents: String

    /// The type that the file declares and is named after; `nil` if it extends a type.
    var typeName: String? {
        guard let name = path.split(separator: "/").last?.split(separator: ".").first else { return nil }
        return name.contains("+") ? nil : String(name)
    }
}
