#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension DataRequest {
    /// The request that an answer redirects this one to (RFC 9110 section 15.4); `nil` if it does not, or leads to
    /// anything but a web address.
    ///
    /// Credentials are dropped when the origin changes. A `303`, or a `301` or `302` to a `POST`, asks with `GET` and
    /// without the body.
    func redirected(by response: DataResponse) -> DataRequest? {
        guard [301, 302, 303, 307, 308].contains(response.status.code),
            let location = response.headerFields.values(of: .location).first,
            let target = URL(string: location, relativeTo: url)?.absoluteURL,
            ["http", "https"].contains(target.scheme?.lowercased()), target.host() != nil
        else { return nil }
        var request = self
        request.url = target
        if changesMethod(response.status) {
            request.method = method == .head ? .head : .get
            request.body = nil
            request.headerFields.removeAll { Self.namesOfContent.contains($0.name) }
        }
        if WebOrigin(target) != WebOrigin(url) {
            request.headerFields.removeAll { $0.isSensitive || $0.name == .host }
        }
        return request
    }

    private func changesMethod(_ status: DataResponse.Status) -> Bool {
        status == 303 || method == .post && [301, 302].contains(status.code)
    }

    private static let namesOfContent: Set<HeaderField.Name> = [
        .contentEncoding, .contentLanguage, .contentLength, .contentLocation, .contentType,
    ]
}
