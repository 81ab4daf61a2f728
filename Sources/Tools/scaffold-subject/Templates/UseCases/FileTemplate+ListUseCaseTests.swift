extension FileTemplate {
    static let listUseCaseTests = Self(
        "Tests/Rings/UseCasesTests/{BlogEntries}/List{BlogEntries}Tests.swift",
        imports: [
            "import Entities", "import InwardCore", "import TestSupport", "import Testing", "import UseCases",
            "import UseCasesTesting",
        ],
        text: #"""
            struct List{BlogEntries}Tests {
                /// Answers from a copy where one will do.
                private struct CopyingRepository: {BlogEntry}Repository {
                    func {blogEntries}(
                        _ policy: ReadPolicy
                    ) async throws(RepositoryError) -> Reading<[Entities.{BlogEntry}]> {
                        Reading([], origin: policy.allowsCopies ? .memory : .upstream)
                    }
                }

                @Test func theyComeInTheOrderOfTheirTextsWhateverTheirCase() async throws {
                    let {blogEntries} = InMemory{BlogEntry}Repository([
                        try .example(9, text: "bob"), try .example(8, text: "Ada"), try .example(7, text: "ada"),
                        try .example(6, text: "Élise"), try .example(5, text: "Carl"),
                    ])
                    let reading = try await List{BlogEntries}({blogEntries}: {blogEntries})()
                    #expect(reading.value.map(\.id.rawValue) == [7, 8, 9, 5, 6])
                }

                @Test func theReadingKeepsItsProvenance() async throws {
                    let rejected = [RejectedRecord(list: "x", position: 3, field: "id", reason: "is missing")]
                    let {blogEntries} = InMemory{BlogEntry}Repository([try .example()], rejected: rejected)
                    let reading = try await List{BlogEntries}({blogEntries}: {blogEntries})()
                    #expect(reading.origin == .memory)
                    #expect(reading.rejected == rejected)
                }

                @Test func thePolicyReachesTheRepository() async throws {
                    let list = List{BlogEntries}({blogEntries}: CopyingRepository())
                    #expect(try await list(.upstream).origin == .upstream)
                    #expect(try await list().origin == .memory)
                }

                @Test(arguments: RepositoryError.allReasons)
                func everyFailureIsTranslated(reason: RepositoryError.Reason) async {
                    let cause = RepositoryError.example(reason)
                    let expected: List{BlogEntries}Error =
                        switch reason {
                        case .cancelled: .cancelled
                        case .denied: .denied(cause)
                        case .unreadable: .unreadable(cause)
                        default: .unavailable(cause)
                        }
                    let {blogEntries} = InMemory{BlogEntry}Repository(failure: cause)
                    let list = List{BlogEntries}({blogEntries}: {blogEntries})
                    await #expect(throws: expected) { try await list() }
                }
            }
            """#
    )
}
