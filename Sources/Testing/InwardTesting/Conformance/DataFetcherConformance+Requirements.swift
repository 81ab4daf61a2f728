import InwardCore
public import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension DataFetcherConformance {
    /// Something that the source must provide for a complete check.
    public enum Requirement: Hashable, Sendable, CaseIterable {
        /// A successful response.
        case success
        /// A response with a status from 400 to 499.
        case clientError
        /// A response with a status from 500 to 599.
        case serverError
        /// A response with a header field.
        case headerField
        /// A response with a header field that is repeated with another value.
        case repeatedHeaderField
        /// A response with a body of at least 1 MiB.
        case largeBody
        /// Two requests that differ only in their query, with different responses.
        case query
        /// Two requests that differ only in their method, neither of them `HEAD`, with different responses.
        case method
        /// Two requests that differ only in their body, with different responses.
        case requestBody
        /// Two requests that differ only in their body, which is at least 1 MiB in one of them, with different responses.
        case largeRequestBody
        /// Two requests that differ only in their header fields, with different responses.
        case requestField
        /// Three otherwise equal requests with different responses: one that repeats a header field with different values, one
        /// with only its first value, and one with only its last.
        case repeatedRequestField
        /// A request that fails because its response is cut short.
        case failure
        /// A request that is never answered.
        case unanswered
        /// A request whose response begins but never ends.
        case unfinished
        /// A request that is answered with the number of times it was made.
        case counting

        /// Describes what to add if the requirement is missing.
        var description: String {
            switch self {
            case .success: "a successful response"
            case .clientError: "a response with a status from 400 to 499"
            case .serverError: "a response with a status from 500 to 599"
            case .headerField: "a response with a header field"
            case .repeatedHeaderField: "a response with a repeated header field"
            case .largeBody: "a response with a body of at least 1 MiB"
            case .query: "two requests that differ only in the query and have different responses"
            case .method:
                "two requests that differ only in the method and have different responses, neither of them HEAD"
            case .requestBody: "two requests that differ only in the body and have different responses"
            case .largeRequestBody: "two requests that differ only in the body, which is at least 1 MiB in one of them"
            case .requestField: "two requests that differ only in the header fields and have different responses"
            case .repeatedRequestField:
                "a request with a repeated header field, whose response differs from those with only the first or the last value"
            case .failure: "a request that must fail because its response is cut short"
            case .unanswered: "a request that is never answered"
            case .unfinished: "a request whose response begins but never ends"
            case .counting: "a request that is answered with the number of times it was made"
            }
        }
    }

    /// The requirements that are missing for a complete check.
    var missingRequirements: [String] {
        Requirement.allCases.filter { !lacking.contains($0) && !isMet($0) }.map { requirement in
            "The exchanges must include \(requirement.description). Add one, or list the requirement as lacking."
        }
    }

    private func isMet(_ requirement: Requirement) -> Bool {
        let answers = exchanges.filter { $0.failure == nil }.map(\.response)
        switch requirement {
        case .success: return answers.contains { $0.status.isSuccess }
        case .clientError: return answers.contains { (400..<500).contains($0.status.code) }
        case .serverError: return answers.contains { (500..<600).contains($0.status.code) }
        case .headerField: return answers.contains { !$0.headerFields.isEmpty }
        case .repeatedHeaderField:
            return answers.contains { answer in
                answer.headerFields.contains { Set(answer.headerFields.values(of: $0.name)).count > 1 }
            }
        case .largeBody: return answers.contains { $0.body.count >= Self.largeSize }
        case .query: return differ(inQueryOnly: true) { $0.url = $1.url }
        case .method: return differ { $0.method = $1.method }
        case .requestBody: return differ { $0.body = $1.body }
        case .largeRequestBody:
            return differ { request, other in
                if (request.body?.count ?? 0) >= Self.largeSize { request.body = other.body }
            }
        case .requestField: return differ { $0.headerFields = $1.headerFields }
        case .repeatedRequestField: return exchanges.contains(where: hasPartsOfRepeatedField)
        case .failure: return exchanges.contains { $0.failure != nil }
        case .unanswered: return unanswered != nil
        case .unfinished: return unfinished != nil
        case .counting: return counting != nil
        }
    }

    /// The minimum size of a body that shows whether large bodies pass through completely.
    private static var largeSize: Int { 1_024 * 1_024 }

    /// Returns whether two exchanges have different responses, and requests that differ only in one part. The closure copies
    /// that part from one request to the other.
    private func differ(
        inQueryOnly: Bool = false,
        _ takeOver: (inout DataRequest, DataRequest) -> Void
    ) -> Bool {
        let exchanges = exchanges.filter { $0.failure == nil && $0.request.method != .head }
        return exchanges.contains { exchange in
            exchanges.contains { other in
                guard exchange.response != other.response, exchange.request != other.request else { return false }
                if inQueryOnly, exchange.request.url.withoutQuery != other.request.url.withoutQuery { return false }
                var request = exchange.request
                takeOver(&request, other.request)
                return request == other.request
            }
        }
    }

    /// Returns whether the request of an exchange repeats a header field, and two other exchanges have the same request with
    /// only the first or only the last value of that field.
    private func hasPartsOfRepeatedField(_ exchange: DataFetcherExchange) -> Bool {
        let fields = exchange.request.headerFields
        return fields.contains { field in
            let repeats = fields.values(of: field.name)
            guard repeats.count > 1 else { return false }
            return [repeats.first, repeats.last].allSatisfy { value in
                var request = exchange.request
                request.headerFields[field.name] = value
                return exchanges.contains { $0.request == request && $0.response != exchange.response }
            }
        }
    }
}

extension URL {
    fileprivate var withoutQuery: String { absoluteString.prefix { $0 != "?" }.description }
}

/// A request and its expected result.
///
/// ```swift
/// let comments = CommentClient.baseURL.appending(path: "comments")
/// let exchanges = [
///     DataFetcherExchange(DataRequest(url: comments), DataResponse(body: Data("[]".utf8))),
///     DataFetcherExchange(DataRequest(method: .post, url: comments), DataResponse(status: .methodNotAllowed)),
///     DataFetcherExchange(DataRequest(url: comments.appending(path: "cut-short")), failing: .interrupted),
/// ]
/// ```
public struct DataFetcherExchange: Hashable, Sendable {
    /// The request.
    public internal(set) var request: DataRequest
    /// The expected response. The status, body and URL must match, and the header fields must be among those received. It is
    /// unused if the request must fail.
    public internal(set) var response: DataResponse
    /// The reason for which the request must fail, or `nil` if it must be answered.
    public let failure: FetchError.Reason?

    /// Creates an exchange with the expected response to a request.
    public init(_ request: DataRequest, _ response: DataResponse) {
        self.request = request
        self.response = response
        failure = nil
    }

    /// Creates an exchange whose request must fail, for example with `.interrupted` if the source ends its response early.
    public init(_ request: DataRequest, failing failure: FetchError.Reason) {
        self.request = request
        self.failure = failure
        response = DataResponse()
    }

    /// Returns what is wrong with the result of a fetch, or an empty array if it is correct.
    func violations(of result: Result<DataResponse, FetchError>) -> [String] {
        switch (result, failure) {
        case (.success(let answer), nil): violations(of: answer)
        case (.success(let answer), let failure?):
            ["\(request) must fail as \(failure), but returned \(answer)."]
        case (.failure(let error), nil):
            ["\(request) must return \(response.status), but failed: \(error)."]
        case (.failure(let error), let failure?):
            error.reason == failure ? [] : ["\(request) must fail as \(failure), but failed as \(error.reason)."]
        }
    }

    private func violations(of answer: DataResponse) -> [String] {
        var violations: [String] = []
        if answer.status != response.status {
            violations.append("\(request) must return \(response.status), but returned \(answer.status).")
        }
        if answer.body != response.body {
            violations.append(
                "\(request) must return \(response.body.count) bytes, but returned a different body "
                    + "(\(answer.body.count) bytes)."
            )
        }
        for field in response.headerFields where answer.headerFields[field.name] != response.headerFields[field.name] {
            let value = answer.headerFields[field.name] ?? "missing"
            violations.append("The response to \(request) must include “\(field)”, but the value is \(value).")
        }
        // The response may leave out the URL if it is the requested one.
        let address = response.url ?? request.url
        if (answer.url ?? request.url) != address {
            violations.append("The response to \(request) must have the URL \(address), but has another one.")
        }
        if answer.fallbackReason != nil {
            violations.append("\(request) must return its own response, but returned a fallback.")
        }
        return violations
    }
}

extension DataFetcherConformance {
    /// A cancelled task gets no answer, whether it is cancelled before the request, while it waits, or during the response.
    func cancellationViolations(_ fetcher: any DataFetcher, _ timer: TimerService) async -> [String] {
        var violations: [String] = []
        for exchange in exchanges {
            // If the source answers, only a cancellation before the request has a single valid outcome.
            violations += await cancellationViolations(fetcher, exchange.request, delays: 0...0)
        }
        for request in [unanswered, unfinished].compactMap(\.self) {
            violations += await cancellationViolations(fetcher, request, delays: 0...20)
            violations += await lateCancellationViolations(fetcher, request, timer)
        }
        return violations
    }

    private func cancellationViolations(
        _ fetcher: any DataFetcher,
        _ request: DataRequest,
        delays: ClosedRange<Int>
    ) async -> [String] {
        var reasons: Set<FetchError.Reason?> = []
        for delay in delays {
            await withTaskGroup { group in
                group.addTask {
                    // Without a delay, the request is made after the cancellation.
                    if delay == 0 { while !Task.isCancelled { await Task.yield() } }
                    return await reason(of: fetcher, request)
                }
                for _ in 0..<delay * delay { await Task.yield() }
                group.cancelAll()
                for await reason in group { reasons.insert(reason) }
            }
        }
        return violations(request, reasons)
    }

    /// Cancels after 50 milliseconds, when the available part of the response has arrived.
    private func lateCancellationViolations(
        _ fetcher: any DataFetcher,
        _ request: DataRequest,
        _ timer: TimerService
    ) async -> [String] {
        await withTaskGroup { group in
            group.addTask { await reason(of: fetcher, request) }
            try? await timer.sleep(for: .milliseconds(50))
            group.cancelAll()
            return violations(request, await group.reduce(into: []) { $0.insert($1) })
        }
    }

    private func violations(_ request: DataRequest, _ reasons: Set<FetchError.Reason?>) -> [String] {
        reasons.subtracting([.cancelled]).map { reason in
            let ending = reason.map { "failed as \($0)" } ?? "was answered"
            return "\(request) must fail as cancelled when its task is cancelled, but \(ending)."
        }.sorted()
    }

    private func reason(of fetcher: any DataFetcher, _ request: DataRequest) async -> FetchError.Reason? {
        do {
            _ = try await fetcher.fetch(request)
            return nil
        } catch {
            return error.reason
        }
    }
}

extension DataFetcherConformance {
    /// A fetcher that honors deadlines times out when its task's deadline passes, and sends nothing after the deadline.
    func deadlineViolations(_ fetcher: any DataFetcher, _ timer: TimerService) async -> [String] {
        guard fetcher.honorsDeadlines else { return [] }
        var violations: [String] = []
        let before = await count(fetcher)
        for request in exchanges.map(\.request) + [counting].compactMap(\.self) {
            violations += await lateness(of: fetcher, request, by: Deadline(in: .zero, on: timer), timer)
        }
        if let counting, let before, let after = await count(fetcher), after != before + 1 {
            violations.append("\(counting) must not be sent after its deadline, but was.")
        }
        for request in [unanswered, unfinished].compactMap(\.self) {
            let deadline = Deadline(in: .milliseconds(50), on: timer)
            violations += await lateness(of: fetcher, request, by: deadline, timer)
        }
        return violations
    }

    private func lateness(
        of fetcher: any DataFetcher,
        _ request: DataRequest,
        by deadline: Deadline,
        _ timer: TimerService
    ) async -> [String] {
        await withTaskGroup { group in
            group.addTask {
                await ending(of: fetcher, request, by: deadline).map { ending in
                    ["\(request) must fail as \(FetchError.Reason.timedOut) at its deadline, but \(ending)."]
                } ?? []
            }
            group.addTask {
                // Long after the deadline, in case the fetcher would wait forever.
                try? await timer.sleep(for: deadline.remaining + .seconds(10))
                return []
            }
            let first = await group.next() ?? []
            group.cancelAll()
            return await group.reduce(into: first) { $0 += $1 }
        }
    }

    /// Returns what is wrong with a fetch that gets a deadline but is not cancelled by it, or `nil` if it ends correctly.
    private func ending(of fetcher: any DataFetcher, _ request: DataRequest, by deadline: Deadline) async -> String? {
        let result = await deadline.carried { () async throws(FetchError) in try await fetcher.fetch(request) }
        switch result {
        case .success: return "was answered"
        case .failure(let error) where error.reason != .timedOut: return "failed as \(error.reason)"
        case .failure: return deadline.hasPassed ? nil : "did so too early"
        }
    }
}
