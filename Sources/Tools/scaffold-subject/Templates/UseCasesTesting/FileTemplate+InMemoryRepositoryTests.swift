extension FileTemplate {
    static let inMemoryRepositoryTests = Self(
        "Tests/Testing/UseCasesTestingTests/{BlogEntries}/InMemory{BlogEntry}RepositoryTests.swift",
        imports: ["import Entities", "import InwardCore", "import Testing", "import UseCasesTesting"],
        text: #"""
            struct InMemory{BlogEntry}RepositoryTests {
                @Test func itAnswersWithWhatItWasGiven() async throws {
                    let rejected = [RejectedRecord(list: "x", position: 0, field: nil, reason: "is null")]
                    let repository = InMemory{BlogEntry}Repository(
                        [try .example(9), try .example(7)],
                        rejected: rejected
                    )
                    let reading = try await repository.{blogEntries}(.nearest)
                    #expect(reading.value.map(\.id.rawValue) == [9, 7])
                    #expect(reading.value.map(\.text) == ["Text 9", "Text 7"])
                    #expect(reading.rejected == rejected)
                }

                @Test func aFailureLastsUntilItIsTakenBack() async throws {
                    let failure = RepositoryError(.denied, request: "x", explanation: "failed")
                    let repository = InMemory{BlogEntry}Repository([try .example()])
                    repository.fail(with: failure)
                    await #expect(throws: failure) { try await repository.{blogEntries}(.nearest) }
                    repository.fail(with: nil)
                    #expect(try await repository.{blogEntries}(.nearest).origin == .memory)
                }

                @Test func aCancelledTaskGetsNoAnswer() async {
                    let repository = InMemory{BlogEntry}Repository()
                    await withTaskGroup { group in
                        group.addTask {
                            while !Task.isCancelled { await Task.yield() }
                            let error = await #expect(throws: RepositoryError.self) {
                                try await repository.{blogEntries}(.nearest)
                            }
                            #expect(error?.reason == .cancelled)
                        }
                        group.cancelAll()
                    }
                }
            }
            """#
    )
}
