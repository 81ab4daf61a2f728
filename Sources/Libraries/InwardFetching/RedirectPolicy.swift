/// What becomes of an answer that points elsewhere.
public struct RedirectPolicy: Hashable, Sendable {
    /// How many redirects in a row are followed.
    private let limit: Int?
    /// The header fields that go along to another origin beside those that are known to be harmless.
    private let names: Set<HeaderField.Name>

    /// The redirect itself is the answer.
    public static let returned = Self(limit: nil, names: [])

    /// Redirects of `GET` and `HEAD` to web addresses are followed, this many in a row at most; another one is an error. The
    /// answer then says where it came from.
    ///
    /// Other methods may have changed something before they were redirected, so their redirects are returned. A redirect from
    /// https to http is an error.
    ///
    /// Another origin gets only the header fields that are known to be harmless: those that say what is asked for and in which
    /// form, such as `Accept`, `Range`, `If-None-Match` and `User-Agent`, unless they are sensitive. It gets no credentials,
    /// cookies, trace context or baggage, and no field of the caller's own, but for those that are named here.
    ///
    /// - Parameters:
    ///   - limit: How many redirects in a row are followed.
    ///   - names: The header fields that another origin gets too, whether or not they are sensitive.
    /// - Returns: the policy.
    public static func followed(upTo limit: Int, sendingElsewhere names: Set<HeaderField.Name> = []) -> Self {
        Self(limit: max(0, limit), names: names)
    }

    /// Sends a request, and what redirects make of it, by a function that follows none.
    ///
    /// - Throws: what `send` throws; or a ``FetchError`` with ``FetchError/Reason/tooManyRedirects``, with
    ///   ``FetchError/Reason/untrusted`` if a redirect leads from https to http, or with ``FetchError/Reason/tooLarge`` if its
    ///   address is too long.
    public func answer(
        to request: DataRequest,
        by send: (DataRequest) async throws(FetchError) -> DataResponse
    ) async throws(FetchError) -> DataResponse {
        var response = try await send(request)
        guard let limit else { return response }
        var current = request
        var count = 0
        while let next = try current.redirected(by: response, sending: names) {
            guard count < limit else {
                let explanation = "was redirected more than \(limit) times, at last to \(next.url.withoutSecrets)"
                throw FetchError(.tooManyRedirects, request: request, explanation: explanation)
            }
            count += 1
            current = next
            response = try await send(next)
            response.url = next.url
        }
        return response
    }
}
