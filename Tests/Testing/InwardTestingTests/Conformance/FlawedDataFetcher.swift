import Foundation
import InwardCore
import InwardFetching
import InwardTesting
import Synchronization

/// An in-memory data fetcher with at most one flaw.
final class FlawedDataFetcher: DataFetcher {
    enum Flaw: String, CaseIterable, Sendable {
        case dropsQuery, dropsRequestBody, dropsRequestFields, dropsCredentials, keepsFirstRequestField,
            keepsLastRequestField, replacesContentType, replacesUserAgent
        case decodesQuery, dropsPath, truncatesRequest, sendsAnotherMethod, sendsPutAsPost, sendsHeadAsGet
        case keepsFirstAnswerField, keepsLastAnswerField, dropsAnswerFields, truncatesAnswer, dropsPartOfAnswer,
            repeatsAnswer
        case throwsOnClientError, throwsOnServerError, throwsOnNotModified, throwsOnUnauthorized, changesStatus
        case sharesByAddress, sharesByAddressAndMethod, answersFromMemory, answersFromMemoryByAddress, sendsTwice
        case sendsWritesTwice, sendsAgainWhenUnavailable, sendsAgainWhenCutShort
        case sendsBodyOfGet, sendsFraming, sendsLongAddress, sendsAnySchemes, sendsAndRefuses, refusesDifferently
        case reportsAnotherURL, reportsAFallback, returnsPartialBody, returnsPartialChunks, failsPartialBodyDifferently
        case ignoresEarlyCancellation, answersWhenCancelled, answersWhenCancelledSoon, answersWhenCancelledLate,
            answersWhenCancelledInBody, failsDifferentlyWhenCancelledInBody
        case sendsAfterDeadline, answersAtDeadlineInBody, ignoresDeadline, ignoresDeadlineInBody, endsBeforeDeadline
        case mixesConcurrentAnswers
    }

    private let flaw: Flaw?
    private let upstream = ConformanceUpstream()
    private let timer: TimerService
    private let memory = Mutex<[String: DataResponse]>([:])
    private let flights = Mutex<[String: Int]>([:])

    init(_ flaw: Flaw?, timer: TimerService) {
        self.flaw = flaw
        self.timer = timer
    }

    var honorsDeadlines: Bool { true }

    func fetch(_ request: DataRequest) async throws(FetchError) -> DataResponse {
        if Task.isCancelled, flaw != .ignoresEarlyCancellation { throw failure(.cancelled, request) }
        if let problem = problem(of: request) {
            if flaw == .sendsAndRefuses { _ = upstream.answer(to: request) }
            throw FetchError(
                flaw == .refusesDifferently ? .unreachable : .invalidRequest,
                request: request,
                explanation: problem
            )
        }
        if Deadline.current?.hasPassed == true {
            if flaw == .sendsAfterDeadline { _ = upstream.answer(to: request) }
            throw failure(.timedOut, request)
        }
        let key = key(of: request)
        if let key, flaw != .sharesByAddress, flaw != .sharesByAddressAndMethod, flaw != .mixesConcurrentAnswers,
            let known = memory.withLock({ $0[key] })
        {
            return known
        }
        if let key { flights.withLock { $0[key, default: 0] += 1 } }
        defer { if let key { flights.withLock { $0[key, default: 0] -= 1 } } }
        if let key, flights.withLock({ $0[key, default: 0] }) > 1, let known = memory.withLock({ $0[key] }) {
            return known
        }
        let sent = sent(request)
        if flaw == .sendsTwice { _ = upstream.answer(to: sent) }
        if flaw == .sendsWritesTwice, sent.method == .post { _ = upstream.answer(to: sent) }
        let answer = upstream.answer(to: sent)
        switch answer {
        case .whole(let response) where flaw == .sendsAgainWhenUnavailable && response.status == 503:
            _ = upstream.answer(to: sent)
        case .cutShort where flaw == .sendsAgainWhenCutShort: _ = upstream.answer(to: sent)
        default: break
        }
        let response = try changed(try await response(to: request, by: answer), request)
        if let key { memory.withLock { $0[key] = response } }
        // Callers that arrive while an answer is in flight get that answer.
        for _ in 0..<4 { await Task.yield() }
        return response
    }

    private func key(of request: DataRequest) -> String? {
        switch flaw {
        case .sharesByAddress: request.url.absoluteString
        case .sharesByAddressAndMethod: "\(request.method) \(request.url.absoluteString)"
        case .answersFromMemoryByAddress: request.method == .get ? request.url.absoluteString : nil
        case .answersFromMemory: request.method == .get ? "\(request.url.absoluteString) \(request.headerFields)" : nil
        case .mixesConcurrentAnswers: "all"
        default: nil
        }
    }

    private func problem(of request: DataRequest) -> String? {
        switch flaw {
        case .sendsBodyOfGet where request.body != nil && request.method == .get: nil
        case .sendsFraming where request.headerFields[.contentLength] != nil: nil
        case .sendsLongAddress where request.url.absoluteString.utf8.count > 8_192: nil
        case .sendsAnySchemes: nil
        default: request.problem
        }
    }

    /// Returns the request as the upstream receives it.
    private func sent(_ request: DataRequest) -> DataRequest {
        var sent = request
        switch flaw {
        case .dropsQuery: sent.url = URL(string: String(request.url.absoluteString.prefix { $0 != "?" })) ?? sent.url
        case .dropsPath:
            sent.url = URL(string: "/\(request.url.lastPathComponent)", relativeTo: request.url) ?? sent.url
        case .decodesQuery:
            sent.url = URL(string: request.url.absoluteString.replacing("%26", with: "&")) ?? sent.url
        case .dropsRequestBody: sent.body = nil
        case .truncatesRequest: sent.body = sent.body?.prefix(65_536)
        case .dropsRequestFields: sent.headerFields = []
        case .replacesContentType: replace(.contentType, in: &sent)
        case .replacesUserAgent: replace(HeaderField.Name("User-Agent"), in: &sent)
        case .dropsCredentials: sent.headerFields[.authorization] = nil
        case .keepsFirstRequestField: sent.headerFields = kept(sent.headerFields, first: true)
        case .keepsLastRequestField: sent.headerFields = kept(sent.headerFields, first: false)
        case .sendsAnotherMethod where request.method != .get && request.method != .head: sent.method = .post
        case .sendsPutAsPost where request.method == .put: sent.method = .post
        case .sendsHeadAsGet where request.method == .head: sent.method = .get
        default: break
        }
        return sent
    }

    /// Replaces a header field, as a client with its own value for the field does.
    private func replace(_ name: HeaderField.Name?, in request: inout DataRequest) {
        if let name, request.headerFields[name] != nil { request.headerFields[name] = "its own" }
    }

    private func kept(_ fields: HeaderFields, first: Bool) -> HeaderFields {
        var kept = HeaderFields()
        for field in first ? Array(fields) : fields.reversed() where kept[field.name] == nil { kept.append(field) }
        return kept
    }

    private func response(
        to request: DataRequest,
        by answer: ConformanceUpstream.Answer
    ) async throws(FetchError) -> DataResponse {
        switch answer {
        case .whole(let response): return response
        case .cutShort(let part, let length):
            if flaw == (length == nil ? .returnsPartialChunks : .returnsPartialBody) { return DataResponse(body: part) }
            throw failure(flaw == .failsPartialBodyDifferently ? .unreadable : .interrupted, request)
        case .never: return try await waited(for: request, part: nil)
        case .unfinished(let part, _): return try await waited(for: request, part: part)
        }
    }

    /// Returns the result of waiting for an answer that never comes.
    private func waited(for request: DataRequest, part: Data?) async throws(FetchError) -> DataResponse {
        let isInBody = part != nil
        let start = timer.now
        do {
            var end = timer.now + (Deadline.current?.remaining ?? .seconds(1_000_000))
            if flaw == .ignoresDeadline || flaw == .ignoresDeadlineInBody && isInBody { end += .seconds(1_000_000) }
            if flaw == .endsBeforeDeadline { end -= .milliseconds(1) }
            try await timer.sleep(until: end)
        } catch {
            let isLate = timer.now > start
            let answers =
                flaw == .answersWhenCancelled || flaw == .answersWhenCancelledSoon && !isLate
                || flaw == .answersWhenCancelledLate && isLate
            if answers { return DataResponse(body: part ?? Data()) }
            if flaw == .answersWhenCancelledInBody, let part { return DataResponse(body: part) }
            throw failure(flaw == .failsDifferentlyWhenCancelledInBody && isInBody ? .interrupted : .cancelled, request)
        }
        if flaw == .answersAtDeadlineInBody, let part { return DataResponse(body: part) }
        throw failure(.timedOut, request)
    }

    /// Returns the response as the flaw changes it.
    private func changed(_ answer: DataResponse, _ request: DataRequest) throws(FetchError) -> DataResponse {
        var answer = answer
        switch flaw {
        case .keepsFirstAnswerField: answer.headerFields = kept(answer.headerFields, first: true)
        case .keepsLastAnswerField: answer.headerFields = kept(answer.headerFields, first: false)
        case .dropsAnswerFields: answer.headerFields = []
        case .truncatesAnswer: answer.body = answer.body.prefix(65_536)
        case .dropsPartOfAnswer where answer.body.count > 65_536: answer.body.removeSubrange(1_000..<2_000)
        case .repeatsAnswer: answer.body.append(answer.body)
        case .throwsOnClientError where (400..<500).contains(answer.status.code): throw FetchError(answer, to: request)
        case .throwsOnServerError where answer.status.code >= 500: throw FetchError(answer, to: request)
        case .throwsOnUnauthorized where answer.status == .unauthorized: throw FetchError(answer, to: request)
        case .throwsOnNotModified where answer.status == .notModified: throw FetchError(answer, to: request)
        case .changesStatus where answer.status.isSuccess: answer.status = .ok
        case .reportsAnotherURL: answer.url = URL(string: "http://elsewhere.test/")
        case .reportsAFallback: answer.fallbackReason = failure(.unreachable, request)
        default: break
        }
        return answer
    }

    private func failure(_ reason: FetchError.Reason, _ request: DataRequest) -> FetchError {
        FetchError(reason, request: request, explanation: "failed")
    }
}
