import UseCases

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Where entities come from: an address, and the data fetcher that answers for what lies below it.
///
/// Share one among the repositories of a source.
public struct Upstream: Sendable {
    /// The address that the paths of the repositories are relative to.
    public let baseURL: URL
    /// What answers for the addresses below the upstream's own.
    public let dataFetcher: any DataFetcher

    /// Makes an upstream.
    ///
    /// - Parameters:
    ///   - baseURL: The address that the paths of the repositories are relative to, such as `https://example.org/api`.
    ///   - dataFetcher: What answers for the addresses below it.
    public init(baseURL: URL, dataFetcher: any DataFetcher) {
        self.baseURL = baseURL
        self.dataFetcher = dataFetcher
    }

    /// This upstream, asked through another data fetcher.
    package func asked(through dataFetcher: any DataFetcher) -> Upstream {
        Upstream(baseURL: baseURL, dataFetcher: dataFetcher)
    }

    /// The entities of a list, without the records that are damaged.
    func list<Record: RecordDTO>(
        _: Record.Type,
        path: String,
        query: [URLQueryItem] = [],
        _ policy: ReadPolicy
    ) async throws(RepositoryError) -> Reading<[Record.Entity]> {
        let request = readRequest(path, query, policy)
        let response = try await response(to: request)
        do {
            let list = try RecordList<Record>(response.body)
            return Reading(
                list.entities,
                origin: response.origin,
                rejected: list.rejected,
                degradation: response.repositoryDegradation
            )
        } catch {
            throw RepositoryError(unreadable: error, of: request)
        }
    }

    /// The entity of a single record.
    func one<Record: RecordDTO>(
        _: Record.Type,
        path: String,
        _ policy: ReadPolicy
    ) async throws(RepositoryError) -> Reading<Record.Entity> {
        let request = readRequest(path, [], policy)
        let response = try await response(to: request)
        do {
            let entity = try Record.decoded(from: response.body).entity()
            return Reading(entity, origin: response.origin, degradation: response.repositoryDegradation)
        } catch {
            throw RepositoryError(unreadable: error, of: request)
        }
    }

    /// Sends a new record, once, and decodes what the upstream says of it.
    func create<Answer: Decodable>(
        _ record: some Encodable,
        path: String,
        answer: Answer.Type
    ) async throws(RepositoryError) -> Answer {
        var request = DataRequest(method: .post, url: baseURL.appending(path: path), headerFields: Self.acceptJSON)
        request.headerFields.append(HeaderField(.contentType, "application/json; charset=utf-8"))
        do {
            request.body = try JSONEncoder().encode(record)
        } catch {
            throw RepositoryError(.refused, request: request.description, explanation: "has content that is no JSON")
        }
        let response = try await response(to: request, mayWrite: true)
        guard response.degradation == nil else {
            // What was done elsewhere may have been done, but not where it was to be.
            throw RepositoryError(
                .outcomeUnknown,
                request: request.description,
                explanation: "was answered by another than the upstream"
            )
        }
        do {
            return try Answer.decoded(from: response.body)
        } catch {
            throw RepositoryError(
                .outcomeUnknown,
                request: request.description,
                explanation: "was accepted, but the answer to it cannot be used: \(error)"
            )
        }
    }

    private func readRequest(_ path: String, _ query: [URLQueryItem], _ policy: ReadPolicy) -> DataRequest {
        var url = baseURL.appending(path: path)
        if !query.isEmpty { url.append(queryItems: query) }
        var request = DataRequest(url: url, headerFields: Self.acceptJSON)
        // RFC 9111 section 5.2.1.4: caches on the way must ask the source.
        if !policy.allowsCopies { request.headerFields[.cacheControl] = "no-cache" }
        return request
    }

    private func response(
        to request: DataRequest,
        mayWrite: Bool = false
    ) async throws(RepositoryError) -> DataResponse {
        do throws(FetchError) {
            let response = try await dataFetcher.fetch(request)
            guard response.status.isSuccess else { throw FetchError(response, to: request) }
            return response
        } catch {
            throw RepositoryError(error, mayHaveWritten: mayWrite)
        }
    }

    private static let acceptJSON: HeaderFields = [HeaderField(.accept, "application/json")]
}

extension DataResponse {
    /// Why this is an answer to a read in place of another, in the terms of a repository.
    fileprivate var repositoryDegradation: RepositoryError? {
        degradation.map { RepositoryError($0, mayHaveWritten: false) }
    }
}
