/// What becomes of an answer that points elsewhere.
public struct RedirectPolicy: Hashable, Sendable {
    /// How many redirects in a row are followed.
    private let limit: Int?

    /// The redirect itself is the answer.
    public static let returned = Self(limit: nil)

    /// Redirects of `GET` and `HEAD` to web addresses are followed, this many in a row at most; another one is an error. The
    /// answer then says where it came from.
    ///
    /// Other methods may have changed something before they were redirected, so their redirects are returned. Credentials,
    /// which are the sensitive header fields, are not sent on to another origin.
    public static func followed(upTo limit: Int) -> Self {
        Self(limit: max(0, limit))
    }

    /// Sends a request, and what redirects make of it, by a function that follows none.
    ///
    /// - Throws: what `send` throws, or a ``FetchError`` with ``FetchError/Reason/tooManyRedirects``.
    public func answer(
        to request: DataRequest,
        by send: (DataRequest) async throws(FetchError) -> DataResponse
    ) async throws(FetchError) -> DataResponse {
        var response = try await send(request)
        guard let limit else { return response }
        var current = request
        var count = 0
        while let next = current.redirected(by: response) {
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
