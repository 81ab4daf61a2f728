/// A file that every subject has, written for an example: the blog entry.
///
/// Where the example's name stands in braces, the file has the new subject's in the same form: `{BlogEntry}`,
/// `{blogEntries}`, `{a blog entry}`. The default name of a target in braces, such as `{Entities}`, becomes the name of the
/// package's module. Lines are short enough for a subject's name of 24 letters.
struct FileTemplate {
    /// Where the file goes.
    let place: FilePlace
    /// The file's name without its extension.
    let name: String
    /// What the file imports, one line each.
    let imports: [String]
    /// Whether it imports FoundationEssentials as well, or Foundation where that is not a module of its own.
    let importsFoundation: Bool
    /// The text after the imports.
    let text: String

    init(
        _ name: String,
        in place: FilePlace,
        imports: [String] = [],
        importsFoundation: Bool = false,
        text: String
    ) {
        self.place = place
        self.name = name
        self.imports = imports
        self.importsFoundation = importsFoundation
        self.text = text
    }
}

extension FileTemplate {
    /// What the package offers that some templates need. A package without it gets other files of the same names.
    struct Variants {
        /// Whether the adapters have the view models that renderers take: the presenter makes one.
        let hasDocuments: Bool
        /// Whether there are containers of sessions, features and interactions: the subject's container is one of them.
        let hasSessions: Bool

        /// Looks for what templates need among the types of the package.
        init(adapterTypes: Set<String>, compositionTypes: Set<String>) {
            hasDocuments = adapterTypes.isSuperset(of: ["Document", "FailureViewModel", "ViewModel"])
            hasSessions = compositionTypes.isSuperset(
                of: ["FeatureContainer", "Interaction", "InteractionContainer", "ScopedDataFetcher", "UserContainer"]
            )
        }
    }

    /// All files of a subject, from the inside out, each followed by its tests.
    static func all(_ variants: Variants) -> [FileTemplate] {
        [
            entity, entityTests,
            repositoryPort, listUseCase, listUseCaseTests,
            dto, upstreamRepository, upstreamRepositoryTests,
            variants.hasDocuments ? documentPresenter : presenter,
            variants.hasDocuments ? documentPresenterTests : presenterTests,
            inMemoryRepository, inMemoryRepositoryTests,
            variants.hasSessions ? featureContainer : container,
            variants.hasSessions ? featureContainerTests : containerTests,
        ]
    }

    /// The files of a subject of this name.
    ///
    /// A target that gets three of them gets a folder for them.
    static func files(of name: SubjectName, _ variants: Variants, in targets: SubjectTargets) -> [ScaffoldedFile] {
        let templates = all(variants)
        return templates.map { template in
            let target = targets[template.place]
            let hasFolder = templates.count { targets[$0.place] == target } >= 3
            let file = template.fill(template.name, name, targets) + ".swift"
            let path = [target.directory, hasFolder ? name.plural : "", file]
            return ScaffoldedFile(
                target: target,
                path: path.filter { !$0.isEmpty }.joined(separator: "/"),
                contents: template.contents(for: name, in: targets)
            )
        }
    }

    private func contents(for name: SubjectName, in targets: SubjectTargets) -> String {
        let lines = imports.map { fill($0, name, targets) }
        let others = lines.filter { $0.importedModule != targets[place].moduleName }
        var head = others.sorted { $0.importedModule < $1.importedModule }.joined(separator: "\n")
        if importsFoundation {
            head += """


                #if canImport(FoundationEssentials)
                import FoundationEssentials
                #else
                import Foundation
                #endif
                """
        }
        return (head.isEmpty ? "" : head + "\n\n") + fill(text, name, targets) + "\n"
    }

    private func fill(_ text: String, _ name: SubjectName, _ targets: SubjectTargets) -> String {
        let roles = TargetRole.allCases.map { ("{\($0.defaultName)}", targets[.sources($0)].moduleName) }
        let forms = [
            ("{BlogEntry}", name.singular), ("{BlogEntries}", name.plural),
            ("{blogEntry}", name.lowerSingular), ("{blogEntries}", name.lowerPlural),
            ("{blog entry}", name.proseSingular), ("{blog entries}", name.prosePlural),
            ("{Blog entries}", name.prosePlural.capitalizedSentence),
            ("{a blog entry}", name.proseSingular.withArticle),
            ("{A blog entry}", name.proseSingular.withArticle.capitalizedSentence),
        ]
        return (forms + roles).reduce(text) { text, form in text.replacing(form.0, with: form.1) }
    }
}

/// A file to write for a subject.
struct ScaffoldedFile: Equatable {
    /// The target that it belongs to.
    let target: PackageTarget
    /// Its path, relative to the package.
    let path: String
    /// All of its text.
    let contents: String

    /// The modules that it imports.
    var importedModules: [String] {
        contents.split(separator: "\n").filter { $0.hasPrefix("import ") || $0.hasPrefix("public import ") }
            .map { String($0).importedModule }
    }
}

extension String {
    /// The module of this import, which is its last word.
    fileprivate var importedModule: String { split(separator: " ").last.map(String.init) ?? "" }
}
