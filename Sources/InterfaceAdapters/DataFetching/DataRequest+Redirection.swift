#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension DataRequest {
    /// The request that an answer redirects this one to (RFC 9110 section 15.4); `nil` if it does not, or leads to
    /// anything but a web address, or if this request may have changed something: what became of that would be lost.
    ///
    /// Credentials are dropped when the origin changes, and those that the redirect itself names are never taken up.
    func redirected(by response: DataResponse) -> DataRequest? {
        guard [.get, .head].contains(method), [301, 302, 303, 307, 308].contains(response.status.code),
            let location = response.headerFields.values(of: .location).first,
            let address = URL(string: location, relativeTo: url)?.absoluteURL,
            ["http", "https"].contains(address.scheme?.lowercased()), address.host()?.isEmpty == false,
            var components = URLComponents(url: address, resolvingAgainstBaseURL: true)
        else { return nil }
        let staysWithOrigin = WebOrigin(address) == WebOrigin(url)
        components.percentEncodedUser = staysWithOrigin ? url.user() : nil
        components.percentEncodedPassword = staysWithOrigin ? url.password() : nil
        guard let target = components.url else { return nil }
        var request = self
        request.url = target
        if !staysWithOrigin { request.headerFields.removeAll { $0.isSensitive || $0.name == .host } }
        return request
    }
}
