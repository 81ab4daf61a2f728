import Foundation
import InwardFetching
import TestSupport
import Testing

@testable import InwardTesting

@Suite(.timeLimit(.minutes(5)))
struct AddressGuardConformanceTests {
    private static let server = "http://127.0.0.1:8080"

    /// Returns a check of clients of a network in memory with a server at one address.
    private func conformance(_ flaw: NetworkDataFetcher.Flaw?) throws -> AddressGuardConformance {
        let upstream = ConformanceUpstream()
        let address = try #require(IPAddress("127.0.0.1"))
        var conformance = AddressGuardConformance(server: try #require(URL(string: Self.server))) { resolver in
            NetworkDataFetcher(resolver: resolver, flaw: flaw) { connection throws(FetchError) in
                guard connection.address == address, case .whole(let response) = upstream.answer(to: connection.request)
                else {
                    throw FetchError(.unreachable, request: connection.request, explanation: "found no server")
                }
                return response
            }
        }
        if flaw != nil { conformance.patience = .milliseconds(100) }
        return conformance
    }

    @Test func clientWithoutFlawsConforms() async throws {
        try await conformance(nil).check()
    }

    @Test(arguments: NetworkDataFetcher.Flaw.allCases) func everyFlawIsFound(flaw: NetworkDataFetcher.Flaw) async throws
    {
        let failure = await #expect(throws: ConformanceFailure.self) { try await conformance(flaw).check() }
        #expect(failure?.violations.isEmpty == false)
        for violation in failure?.violations ?? [] { #expect(violation.hasSuffix("."), "\(violation)") }
    }

    @Test func serverNeedsAnAddressAndAPort() async throws {
        for text in ["http://example.org:80/", "http://127.0.0.1/"] {
            let conformance = AddressGuardConformance(server: try #require(URL(string: text))) { _ in
                StubDataFetcher(DataResponse())
            }
            await #expect(throws: ConformanceFailure.self) { try await conformance.check() }
        }
    }

    @Test func clientThatCannotBeGuardedDoesNotConform() async throws {
        let conformance = AddressGuardConformance(server: try #require(URL(string: Self.server))) { _ in
            ChaosDataFetcher(StubDataFetcher(DataResponse()), plan: ChaosPlan([:]))
        }
        let failure = await #expect(throws: ConformanceFailure.self) { try await conformance.check() }
        #expect(failure?.description.contains("ChaosDataFetcher cannot check the addresses") == true)
    }
}
