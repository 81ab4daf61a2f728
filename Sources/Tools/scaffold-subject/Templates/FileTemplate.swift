/// A template for a file that every subject has. The placeholders are written for an example subject, a blog entry.
///
/// Placeholders in braces, such as `{BlogEntry}`, `{blogEntries}`, and `{a blog entry}`, are replaced with the new subject's
/// name in the same form. A target's default name in braces, such as `{Entities}`, is replaced with the name of the
/// package's module. Lines are short enough for subject names of up to 24 letters.
struct FileTemplate {
    /// The place of the file.
    let place: FilePlace
    /// The file's name without its extension.
    let name: String
    /// The import declarations, one per line.
    let imports: [String]
    /// Whether the file also imports FoundationEssentials, or Foundation where FoundationEssentials is unavailable.
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
    /// The optional features of a package that some templates need.
    ///
    /// A package without a feature gets other files with the same names.
    struct Variants {
        /// Whether the adapters have view models for renderers. If so, the presenter creates one.
        let hasDocuments: Bool
        /// Whether the package has containers for an app, a user, features and interactions, as this package does. If so, the
        /// subject gets a feature container. Otherwise, it gets a container over a `SessionScope`.
        let hasAppContainers: Bool

        /// Detects the features from the names of the package's types.
        init(adapterTypes: Set<String>, compositionTypes: Set<String>) {
            hasDocuments = adapterTypes.isSuperset(of: ["Document", "FailureViewModel", "ViewModel"])
            hasAppContainers = compositionTypes.isSuperset(
                of: [
                    "AppConfiguration", "AppContainer", "FeatureContainer", "InteractionContainer", "UserContainer",
                ]
            )
        }
    }

    /// Returns the templates of a subject's files, from the innermost ring outward, each followed by its tests.
    static func all(_ variants: Variants) -> [FileTemplate] {
        [
            entity, entityTests,
            repositoryPort, listUseCase, listUseCaseTests, editUseCase, editUseCaseTests,
            dto, upstreamRepository, upstreamRepositoryTests,
            variants.hasDocuments ? documentPresenter : presenter,
            variants.hasDocuments ? documentPresenterTests : presenterTests,
            inMemoryRepository, inMemoryRepositoryTests,
            variants.hasAppContainers ? featureContainer : container,
            variants.hasAppContainers ? featureContainerTests : containerTests,
        ]
    }

    /// Returns the files of a subject with the given name.
    ///
    /// A target that gets at least three files gets a folder for them.
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
    /// The target that the file belongs to.
    let target: PackageTarget
    /// The path of the file, relative to the package.
    let path: String
    /// The complete text of the file.
    let contents: String

    /// The modules that the file imports.
    var importedModules: [String] {
        contents.split(separator: "\n").filter { $0.hasPrefix("import ") || $0.hasPrefix("public import ") }
            .map { String($0).importedModule }
    }
}

extension String {
    /// The module of an import declaration, which is its last word.
    fileprivate var importedModule: String { split(separator: " ").last.map(String.init) ?? "" }
}
