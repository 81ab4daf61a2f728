import InwardFetching

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Writes the response to a request for an image.
struct ImageResponse {
    /// A field `If-None-Match` that is longer is ignored.
    private static let maximumConditionLength = 4_096

    let method: String
    /// How long caches may keep the response, in seconds.
    var maximumAge: TimeInterval = 0

    init(method: String) { self.method = method }

    /// Whether the method is `GET` or `HEAD`.
    var isSupported: Bool { method == "GET" || method == "HEAD" }

    /// The response with an image, or 304 if the client already has it.
    func answer(_ variant: ImageVariant, ifNoneMatch conditions: [String]) -> DataResponse {
        // A substitute must not replace the image in any cache, and must not confirm one.
        guard variant.isGenuine else { return response(.ok, ["no-store"], variant.body, variant.mediaType) }
        let directives = ["public", "max-age=\(Int(min(max(0, maximumAge), 315_360_000)))", "immutable"]
        let length = conditions.reduce(0) { $0 + $1.utf8.count }
        if length <= Self.maximumConditionLength, variant.entityTag.matches(ifNoneMatch: conditions) {
            var response = DataResponse(status: .notModified, headerFields: fields(directives))
            response.headerFields[.etag] = variant.entityTag.description
            return response
        }
        var response = response(.ok, directives, variant.body, variant.mediaType)
        response.headerFields[.etag] = variant.entityTag.description
        return response
    }

    /// The response with a placeholder in place of an image.
    func placeholder(_ body: Data, _ mediaType: String, for problem: ProblemDetails) -> DataResponse {
        var response = response(problem.status, ["no-store"], body, mediaType)
        response.headerFields[.retryAfter] = problem.headerFields[.retryAfter]
        return response
    }

    /// The response with the text of a problem.
    func problem(_ problem: ProblemDetails) -> DataResponse {
        let encoder = JSONEncoder()
        // Equal problems have equal responses.
        encoder.outputFormatting = .sortedKeys
        let body = (try? encoder.encode(problem)) ?? Data()
        return placeholder(body, ProblemDetails.mediaType, for: problem)
    }

    /// The response to a request with another method.
    func methodNotAllowed() -> DataResponse {
        var response = problem(ProblemDetails(.methodNotAllowed, detail: "Images can only be read. Use GET or HEAD."))
        response.headerFields[.allow] = "GET, HEAD"
        return response
    }

    private func response(
        _ status: DataResponse.Status,
        _ directives: [String],
        _ body: Data,
        _ mediaType: String
    ) -> DataResponse {
        var fields = fields(directives)
        fields.append(HeaderField(.contentType, mediaType))
        fields.append(HeaderField(.contentLength, String(body.count)))
        return DataResponse(status: status, headerFields: fields, body: method == "HEAD" ? Data() : body)
    }

    /// The fields of every response.
    private func fields(_ directives: [String]) -> HeaderFields {
        [
            HeaderField(.cacheControl, directives.joined(separator: ", ")),
            HeaderField(.vary, "Accept"),
            // If a client opens the response as a page, it must not run or load anything.
            HeaderField(.contentSecurityPolicy, "default-src 'none'"),
            HeaderField(.contentTypeOptions, "nosniff"),
        ]
    }
}
