import Foundation
import Testing

@testable import scaffold_subject

struct FileTemplateTests {
    private static let variants = [
        FileTemplate.Variants(adapterTypes: [], compositionTypes: []),
        FileTemplate.Variants(
            adapterTypes: ["ViewModel", "Document", "FailureViewModel"],
            compositionTypes: [
                "UserContainer", "FeatureContainer", "InteractionContainer", "Interaction", "ScopedDataFetcher",
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
    func aSubjectGoesThroughAllRingsWithOneConceptInEachFile(variant: Int) throws {
        #expect(
            try files("BlogEntry", Self.variants[variant]).map(\.path) == [
                "Sources/Rings/Entities/BlogEntry.swift",
                "Tests/Rings/EntitiesTests/BlogEntryTests.swift",
                "Sources/Rings/UseCases/BlogEntryRepository.swift",
                "Sources/Rings/UseCases/ListBlogEntries.swift",
                "Tests/Rings/UseCasesTests/ListBlogEntriesTests.swift",
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

    @Test func theNameIsFilledInInEveryForm() throws {
        let entity = try #require(try files("OrderItem").first { $0.path.hasSuffix("/OrderItem.swift") })
        #expect(entity.contents.hasPrefix("/// An order item: a text with an identity.\n"))
        #expect(entity.contents.hasSuffix("\n}\n"))
        #expect(entity.contents.contains("public struct OrderItem: Hashable, Identifiable, Sendable {"))
        #expect(entity.contents.contains("/// Creates an order item that"))
        let repository = try #require(
            try files("OrderItem").first { $0.path.contains("/UpstreamOrderItemRepository.") }
        )
        #expect(repository.contents.hasPrefix("public import Entities\npublic import InwardCore\n"))
        #expect(repository.contents.contains("Self(OrderItemDTO.self, at: \"orderItems\""))
    }

    @Test(arguments: ["Tag", "Comment", "BlogEntry", "SubscriptionCancellation"], [0, 1])
    func nothingOfTheExampleIsLeftAndNoLineIsTooLong(name: String, variant: Int) throws {
        for file in try files(name, Self.variants[variant]) {
            #expect(name == "BlogEntry" || !(file.path + file.contents).lowercased().contains("blogentr"))
            #expect(name == "BlogEntry" || !file.contents.lowercased().contains("blog entr"))
            for form in ["{Blog", "{blog", "{a blog", "{A blog"] + TargetRole.allCases.map({ "{\($0.defaultName)}" }) {
                #expect(!(file.path + file.contents).contains(form))
            }
            #expect(file.contents.split(separator: "\n").allSatisfy { $0.count <= 120 }, "\(file.path)")
        }
    }

    @Test(arguments: [0, 1])
    func repositoriesAreMadeByTheContainerAlone(variant: Int) throws {
        let making = try files("Comment", Self.variants[variant]).filter { file in
            file.contents.contains(/[^\w]Repository\($/.anchorsMatchLineEndings())
        }
        #expect(making.map(\.path) == ["Sources/Rings/Composition/CommentsContainer.swift"])
        // In its initializer, and so once, where a `get` or a function would make one for each access.
        let contents = try #require(making.first?.contents)
        let initializer = try #require(contents.range(of: "    public init("))
        let end = try #require(contents.range(of: "\n    }\n", range: initializer.upperBound..<contents.endIndex))
        #expect(contents[initializer.upperBound..<end.lowerBound].contains("Repository(\n"))
        #expect(contents.contains("await $0.close()") || contents.contains("await repository.close()"))
    }

    @Test(arguments: [0, 1])
    func aTestCountsTheRequestsOfTwoInteractions(variant: Int) throws {
        let tests = try #require(try files("Comment", Self.variants[variant]).last?.contents)
        #expect(tests.contains("@Test func twoInteractionsCauseOneRequest() async throws {"))
        #expect(tests.contains("#expect(source.requests.count == 1)"))
        #expect(tests.contains("#expect(second.origin == .memory)"))
    }

    @Test func modulesAreImportedByTheNamesOfThePackagesTargets() throws {
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
        #expect(list.contents.contains("Reading<[MyEntities.Comment]>"))
    }

    @Test func withoutATargetForDoublesTheTestsOfUseCasesHoldThem() throws {
        let targets = [PackageTarget].example(named: { $0 == .doubles ? nil : $0.defaultName })
        let paths = try files("Comment", in: targets).map(\.path).filter { $0.contains("UseCasesTests") }
        #expect(
            paths == [
                "Tests/Rings/UseCasesTests/Comments/ListCommentsTests.swift",
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
