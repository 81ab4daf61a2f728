import Testing

@testable import scaffold_subject

struct FileTemplateTests {
    private func files(_ name: String) throws -> [ScaffoldedFile] {
        let name = try SubjectName(name)
        return FileTemplate.all.map { $0.file(for: name) }
    }

    @Test func theFilesOfASubjectGoThroughAllRings() throws {
        #expect(
            try files("BlogEntry").map(\.path) == [
                "Sources/Rings/Entities/BlogEntries/BlogEntry.swift",
                "Sources/Rings/Entities/BlogEntries/BlogEntry+ID.swift",
                "Sources/Rings/Entities/BlogEntries/BlogEntryError.swift",
                "Tests/Rings/EntitiesTests/BlogEntries/BlogEntryTests.swift",
                "Sources/Rings/UseCases/BlogEntries/BlogEntryRepository.swift",
                "Sources/Rings/UseCases/BlogEntries/ListBlogEntries.swift",
                "Sources/Rings/UseCases/BlogEntries/ListBlogEntriesError.swift",
                "Tests/Rings/UseCasesTests/BlogEntries/ListBlogEntriesTests.swift",
                "Sources/Rings/InterfaceAdapters/BlogEntries/BlogEntryDTO.swift",
                "Sources/Rings/InterfaceAdapters/BlogEntries/UpstreamBlogEntryRepository.swift",
                "Sources/Rings/InterfaceAdapters/BlogEntries/BlogEntryListViewModel.swift",
                "Sources/Rings/InterfaceAdapters/BlogEntries/BlogEntryListPresenter.swift",
                "Tests/Rings/InterfaceAdaptersTests/BlogEntries/UpstreamBlogEntryRepositoryTests.swift",
                "Tests/Rings/InterfaceAdaptersTests/BlogEntries/BlogEntryListPresenterTests.swift",
                "Sources/Testing/UseCasesTesting/BlogEntries/InMemoryBlogEntryRepository.swift",
                "Sources/Testing/UseCasesTesting/BlogEntries/BlogEntry+Example.swift",
                "Tests/Testing/UseCasesTestingTests/BlogEntries/InMemoryBlogEntryRepositoryTests.swift",
                "Sources/Rings/Composition/BlogEntries/BlogEntriesContainer.swift",
                "Sources/Rings/Composition/BlogEntries/BlogEntriesInteraction.swift",
                "Tests/Rings/CompositionTests/BlogEntries/BlogEntriesContainerTests.swift",
            ]
        )
    }

    @Test func theNameIsFilledInInEveryForm() throws {
        let entity = try #require(try files("OrderItem").first { $0.path.hasSuffix("/OrderItem.swift") })
        #expect(entity.contents.hasPrefix("/// An order item: a text with an identity.\n"))
        #expect(entity.contents.hasSuffix("\n}\n"))
        #expect(entity.contents.contains("public struct OrderItem: Hashable, Identifiable, Sendable {"))
        #expect(entity.contents.contains("/// Makes an order item of a text"))
        let repository = try #require(
            try files("OrderItem").first { $0.path.contains("/UpstreamOrderItemRepository.") }
        )
        #expect(repository.contents.hasPrefix("public import Entities\npublic import InwardCore\n"))
        #expect(repository.contents.contains("Endpoint(OrderItemDTO.self, at: \"orderItems\")"))
    }

    @Test(arguments: ["Tag", "Comment", "BlogEntry", "SubscriptionCancellation"])
    func nothingOfTheExampleIsLeftAndNoLineIsTooLong(name: String) throws {
        for file in try files(name) {
            #expect(name == "BlogEntry" || !(file.path + file.contents).lowercased().contains("blogentr"))
            #expect(name == "BlogEntry" || !file.contents.lowercased().contains("blog entr"))
            for form in ["{Blog", "{blog", "{a blog", "{A blog"] {
                #expect(!(file.path + file.contents).contains(form))
            }
            #expect(file.contents.split(separator: "\n").allSatisfy { $0.count <= 120 }, "\(file.path)")
        }
    }
}
