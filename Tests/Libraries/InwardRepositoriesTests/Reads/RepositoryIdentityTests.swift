import InwardCore
import InwardFetching
import InwardTesting
import TestSupport
import Testing

@testable import InwardRepositories

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.timeLimit(.minutes(5)))
struct RepositoryIdentityTests {
    private struct Label: Identifiable, Sendable {
        let id: String
    }

    private struct LabelDTO: RecordDTO {
        static let listName = "labels"

        let id: String

        init(_ label: Label) {
            id = label.id
        }

        func entity() throws(FieldError) -> Label { Label(id: id) }
    }

    private let source = RecordingDataFetcher(StubDataFetcher(DataResponse(status: .notFound)))

    private func repository() throws -> Repository<Label> {
        Repository(Endpoint(LabelDTO.self, at: "labels"), upstream: try .example(source), chance: { 0 })
    }

    /// Returns a path component as the server decodes it.
    private func decoded(_ component: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = component.utf8[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            if byte == UInt8(ascii: "%"), let escaped = UInt8(digits, radix: 16) {
                bytes.append(escaped)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: ["", ".", ".."])
    func identifierThatChangesThePathIsNotRequested(id: String) async throws {
        let repository = try repository()
        let error = await #expect(throws: RepositoryError.self) { try await repository.entity(id) }
        #expect(error?.reason == .refused)
        #expect(source.requests.isEmpty)
    }

    @Test(arguments: [
        "../users", "..%2Fusers", "%2e%2e", "a/b", "/users", "%2F", "a?b=c", "a#b", "..;", "a\\b", "é", " ", "\n",
        "//evil.test/x", "http://evil.test", "@evil.test", "a%00",
    ])
    func identifierStaysOnePathComponent(id: String) async throws {
        let repository = try repository()
        let error = await #expect(throws: RepositoryError.self) { try await repository.entity(id) }
        #expect(error?.reason == .notFound)
        let url = try #require(source.requests.first?.url)
        #expect(url.scheme == "http" && url.host() == "upstream.test" && url.query() == nil && url.fragment() == nil)
        let components = url.path(percentEncoded: true).split(separator: "/", omittingEmptySubsequences: false)
        #expect(components.dropLast() == ["", "api", "labels"])
        #expect(components.last.map(decoded) == id)
        #expect(url.standardized.path(percentEncoded: true) == url.path(percentEncoded: true))
    }

    @Test func similarIdentifiersAreDistinguished() async throws {
        let source = StubDataFetcher { request throws(FetchError) in
            let id = request.url.lastPathComponent
            return DataResponse(body: .init("{\"id\": \"\(id)\"}".utf8))
        }
        let repository = Repository<Label>(Endpoint(LabelDTO.self, at: "labels"), upstream: try .example(source))
        for id in ["1", "01", "1 "] { #expect(try await repository.entity(id).value.id == id) }
        for id in ["1", "01", "1 "] { #expect(try await repository.entity(id).origin == .memory) }
    }
}
