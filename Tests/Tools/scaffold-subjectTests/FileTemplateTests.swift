import Foundation
import Testing

@testable import scaffold_subject

struct FileTemplateTests {
    private static let variants = [
        FileTemplate.Variants(adapterTypes: [], compositionTypes: []),
        FileTemplate.Variants(
            adapterTypes: ["ViewModel", "Document", "FailureViewModel"],
            compositionTypes: [
                "AppConfiguration", "AppContainer", "UserContainer", "FeatureContainer", "InteractionContainer",
            ]
        ),
    ]

    private func files(
        _ name: String,
        _ variants: FileTemplate.Variants = variants[0],
        in targets: [PackageTarget] = .example()
    ) throws -> [ScaffoldedFile] {
        let places = try SubjectTargets(names: [:], diagram: nil, among: targets)
        return FileTemplate.files(of: try SubjectName(name), variants, in: places)
    }

    @Test(arguments: [0, 1])
    func subjectHasFilesInAllRings(variant: Int) throws {
        #expect(
            try files("BlogEntry", Self.variants[variant]).map(\.path) == [
                "Sources/Rings/Entities/BlogEntry.swift",
                "Tests/Rings/EntitiesTests/BlogEntryTests.swift",
                "Sources/Rings/UseCases/BlogEntries/BlogEntryRepository.swift",
                "Sources/Rings/UseCases/BlogEntries/ListBlogEntries.swift",
                "Tests/Rings/UseCasesTests/ListBlogEntriesTests.swift",
                "Sources/Rings/UseCases/BlogEntries/EditBlogEntries.swift",
                "Tests/Rings/UseCasesTests/EditBlogEntriesTests.swift",
                "Sources/Rings/InterfaceAdapters/BlogEntries/BlogEntryDTO.swift",
                "Sources/Rings/InterfaceAdapters/BlogEntries/UpstreamBlogEntryRepository.swift",
                "Tests/Rings/InterfaceAdaptersTests/UpstreamBlogEntryRepositoryTests.swift",
                "Sources/Rings/InterfaceAdapters/BlogEntries/BlogEntryListPresenter.swift",
                "Tests/Rings/InterfaceAdaptersTests/BlogEntryListPresenterTests.swift",
                "Sources/Rings/UseCasesTesting/InMemoryBlogEntryRepository.swift",
                "Tests/Rings/UseCasesTestingTests/InMemoryBlogEntryRepositoryTests.swift",
                "Sources/Rings/Composition/BlogEntriesContainer.swift",
                "Tests/Rings/CompositionTests/BlogEntriesContainerTests.swift",
            ]
        )
    }

    @Test func everyFormOfTheNameIsFilledIn() throws {
        let entity = try #require(try files("OrderItem").first { $0.path.hasSuffix("/OrderItem.swift") })
        #expect(entity.contents.hasPrefix("/// An order item: a text with an identifier.\n"))
        #expect(entity.contents.hasSuffix("\n}\n"))
        #expect(entity.contents.contains("public struct OrderItem: Hashable, Identifiable, Sendable {"))
        #expect(entity.contents.contains("/// Creates an order item from a draft."))
        let repository = try #require(
            try files("OrderItem").first { $0.path.contains("/UpstreamOrderItemRepository.") }
        )
        #expect(repository.contents.hasPrefix("public import Entities\npublic import InwardCore\n"))
        #expect(repository.contents.contains("        OrderItemDTO.self,\n        at: \"orderItems\",\n"))
    }

    @Test(arguments: ["Tag", "Comment", "BlogEntry", "SubscriptionCancellation"], [0, 1])
    func noPlaceholderRemainsAndNoLineIsTooLong(name: String, variant: Int) throws {
        for file in try files(name, Self.variants[variant]) {
            #expect(name == "BlogEntry" || !(file.path + file.contents).lowercased().contains("blogentr"))
            #expect(name == "BlogEntry" || !file.contents.lowercased().contains("blog entr"))
            for form in ["{Blog", "{blog", "{a blog", "{A blog"] + TargetRole.allCases.map({ "{\($0.defaultName)}" }) {
                #expect(!(file.path + file.contents).contains(form))
            }
            #expect(file.contents.split(separator: "\n").allSatisfy { $0.count <= 120 }, "\(file.path)")
        }
    }

    /// The variants are detected by type names. This test fails if one of them changes.
    @Test func thisPackageHasContainersAndDocuments() throws {
        let root = URL(filePath: #filePath).appending(path: "../../../..").standardized
        let package = try PackageDirectory(path: root.path(percentEncoded: false))
        func types(_ name: String) -> Set<String> {
            let directory = "Sources/Rings/\(name)"
            let target = PackageTarget(name: name, moduleName: name, directory: directory, dependencies: [])
            return Set(package.declaredTypes(in: target).keys)
        }
        let variants = FileTemplate.Variants(
            adapterTypes: types("InterfaceAdapters"),
            compositionTypes: types("Composition")
        )
        #expect(variants.hasDocuments)
        #expect(variants.hasAppContainers)
    }

    @Test(arguments: [(0, "session.repository(.comments)"), (1, "user.openFeature(over: .comments)")])
    func repositoryComesFromTheSession(variant: Int, call: String) throws {
        let sources = try files("Comment", Self.variants[variant]).filter { $0.path.hasPrefix("Sources/") }
        #expect(!sources.contains { $0.contents.contains(/\bRepository\(/) })
        let asking = sources.filter { $0.contents.contains(call) }
        #expect(asking.map(\.path) == ["Sources/Rings/Composition/CommentsContainer.swift"])
    }

    @Test(arguments: [0, 1])
    func errorsAreTyped(variant: Int) throws {
        for file in try files("Comment", Self.variants[variant]) where file.path.hasPrefix("Sources/") {
            #expect(!file.contents.contains(/\bthrows (->|\{)/), "\(file.path)")
        }
    }

    @Test(arguments: [0, 1])
    func testsCountRequestsAndWriteThroughTheOutbox(variant: Int) throws {
        let tests = try #require(try files("Comment", Self.variants[variant]).last?.contents)
        #expect(tests.contains("#expect(source.requests.count == 1)"))
        #expect(tests.contains("#expect(second.origin == .memory)"))
        #expect(tests.contains("#expect(created.isPending)"))
        #expect(tests.contains(#"#expect(writes == ["POST comments", "PATCH 3", "DELETE 3"])"#))
    }

    @Test func modulesAreImportedByTheirTargetNames() throws {
        let targets = [PackageTarget].example { "My\($0.defaultName)" }
        let names = TargetRole.allCases.map { ($0, "My\($0.defaultName)") }
        let places = try SubjectTargets(
            names: Dictionary(uniqueKeysWithValues: names),
            diagram: nil,
            among: targets
        )
        let files = FileTemplate.files(of: try SubjectName("Comment"), Self.variants[0], in: places)
        let list = try #require(files.first { $0.path.hasSuffix("/ListCommentsTests.swift") })
        #expect(
            list.importedModules == ["InwardCore", "MyEntities", "MyUseCases", "MyUseCasesTesting", "Testing"]
        )
        let presenter = try #require(files.first { $0.path.hasSuffix("/CommentListPresenterTests.swift") })
        #expect(presenter.contents.contains("throws -> MyEntities.Comment {"))
    }

    @Test func doublesWithoutATargetAreWrittenToTheUseCaseTests() throws {
        let targets = [PackageTarget].example(named: { $0 == .doubles ? nil : $0.defaultName })
        let paths = try files("Comment", in: targets).map(\.path).filter { $0.contains("UseCasesTests") }
        #expect(
            paths == [
                "Tests/Rings/UseCasesTests/Comments/ListCommentsTests.swift",
                "Tests/Rings/UseCasesTests/Comments/EditCommentsTests.swift",
                "Tests/Rings/UseCasesTests/Comments/InMemoryCommentRepository.swift",
                "Tests/Rings/UseCasesTests/Comments/InMemoryCommentRepositoryTests.swift",
            ]
        )
        for file in try files("Comment", in: targets) {
            #expect(!file.importedModules.contains(file.target.moduleName))
            #expect(!file.importedModules.contains("UseCasesTesting"))
        }
    }
}
