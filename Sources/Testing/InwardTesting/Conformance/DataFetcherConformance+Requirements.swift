public import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension DataFetcherConformance {
    /// Something that the source must do so that the check can find every flaw.
    public enum Requirement: Hashable, Sendable, CaseIterable {
        /// An answer of success.
        case success
        /// An answer with a status from 400 to 499.
        case clientError
        /// An answer with a status from 500 to 599.
        case serverError
        /// An answer with a header field.
        case headerField
        /// An answer with a header field that is repeated with another value.
        case repeatedHeaderField
        /// An answer with a body of at least 1 MiB.
        case largeBody
        /// Two requests that differ in the query alone, and their answers.
        case query
        /// Two requests that differ in the method alone, neither of them `HEAD`, and their answers.
        case method
        /// Two requests that differ in the body alone, and their answers.
        case requestBody
        /// A request with a body of at least 1 MiB, and another with a part of it.
        case largeRequestBody
        /// Two requests that differ in the header fields alone, and their answers.
        case requestField
        /// A request with a repeated header field, the same requests with the first of the fields alone and with the last alone, and
        /// their different answers.
        case repeatedRequestField
        /// A request that fails because its answer is cut short.
        case failure
        /// A request that is never answered.
        case unanswered
        /// A request whose answer begins and never ends.
        case unfinished
        /// A request that is answered with how often it was made.
        case counting

        /// What has to be added where it is missing.
        var description: String {
            switch self {
            case .success: "an answer of success"
            case .clientError: "an answer with a status from 400 to 499"
            case .serverError: "an answer with a status from 500 to 599"
            case .headerField: "an answer with a header field"
            case .repeatedHeaderField: "an answer with a repeated header field"
            case .largeBody: "an answer with a body of at least 1 MiB"
            case .query: "two requests that differ in the query alone and have different answers"
            case .method:
                "two requests that differ in the method alone and have different answers, neither of them HEAD"
            case .requestBody: "two requests that differ in the body alone and have different answers"
            case .largeRequestBody: "two requests that differ in the body alone, which is at least 1 MiB in one of them"
            case .requestField: "two requests that differ in the header fields alone and have different answers"
            case .repeatedRequestField:
                "a request with a repeated header field, which is answered otherwise than with the first or the last alone"
            case .failure: "a request that must fail because its answer is cut short"
            case .unanswered: "a request that is never answered"
            case .unfinished: "a request whose answer begins and never ends"
            case .counting: "a request that is answered with how often it was made"
            }
        }
    }

    /// What the check cannot be complete without, and is not there.
    var missingRequirements: [String] {
        Requirement.allCases.filter { !lacking.contains($0) && !isMet($0) }.map { requirement in
            "The exchanges must have \(requirement.description), and have none. Add it, or say that the source lacks it."
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

    /// How large a body must be that shows whether all of it goes through.
    private static var largeSize: Int { 1_024 * 1_024 }

    /// Whether there are two exchanges with different answers whose requests are the same but for what a function takes over from
    /// the other one.
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

    /// Whether an exchange has a repeated header field, and others ask with the first and with the last of the repeats alone.
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

/// A request, and what must come back for it.
public struct DataFetcherExchange: Hashable, Sendable {
    /// What is asked.
    public internal(set) var request: DataRequest
    /// What must come back: this status, this body, this address, and these header fields among others. Without a meaning where
    /// the request must fail.
    public internal(set) var response: DataResponse
    /// Why the request must fail; `nil` if it must be answered.
    public let failure: FetchError.Reason?

    /// Names what must come back for a request.
    public init(_ request: DataRequest, _ response: DataResponse) {
        self.request = request
        self.response = response
        failure = nil
    }

    /// Names why a request must fail, such as `.interrupted` where the source ends its answer early.
    public init(_ request: DataRequest, failing failure: FetchError.Reason) {
        self.request = request
        self.failure = failure
        response = DataResponse()
    }

    /// What is wrong with how a fetch of the request ended; nothing if it ended as it must.
    func violations(of result: Result<DataResponse, FetchError>) -> [String] {
        switch (result, failure) {
        case (.success(let answer), nil): violations(of: answer)
        case (.success(let answer), let failure?):
            ["\(request) must fail as \(failure), and was answered with \(answer)."]
        case (.failure(let error), nil):
            ["\(request) must be answered with \(response.status), and failed: \(error)."]
        case (.failure(let error), let failure?):
            error.reason == failure ? [] : ["\(request) must fail as \(failure), and did as \(error.reason)."]
        }
    }

    private func violations(of answer: DataResponse) -> [String] {
        var violations: [String] = []
        if answer.status != response.status {
            violations.append("\(request) must be answered with \(response.status), and was with \(answer.status).")
        }
        if answer.body != response.body {
            violations.append(
                "\(request) must be answered with \(response.body.count) bytes exactly, and was with others "
                    + "(\(answer.body.count) bytes)."
            )
        }
        for field in response.headerFields where answer.headerFields[field.name] != response.headerFields[field.name] {
            let value = answer.headerFields[field.name] ?? "nothing"
            violations.append("The answer to \(request) must say “\(field)”, and says \(value).")
        }
        // An answer may leave out the address that was asked for.
        let address = response.url ?? request.url
        if (answer.url ?? request.url) != address {
            violations.append("The answer to \(request) must come from \(address), and says that it does not.")
        }
        if answer.fallbackReason != nil {
            violations.append("\(request) must be answered itself, and was with something in the place of its answer.")
        }
        return violations
    }
}
