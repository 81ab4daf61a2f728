#if AsyncHTTPClient
import AsyncHTTPClient
import InwardFetching
import NIOHTTP1

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension HTTPClient.Request {
    /// The client's form of a request.
    ///
    /// - Throws: what the client throws about an address that it cannot ask.
    init(_ request: DataRequest) throws {
        var headers = HTTPHeaders()
        for field in request.headerFields where field.name != .cookie {
            headers.add(name: field.name.rawValue, value: field.value)
        }
        // RFC 6265 section 5.4: the one list that is not sent as fields that repeat.
        let cookies = request.headerFields.values(of: .cookie)
        if !cookies.isEmpty { headers.add(name: "Cookie", value: cookies.joined(separator: "; ")) }
        if let user = request.url.user(percentEncoded: false), !headers.contains(name: "Authorization") {
            let password = request.url.password(percentEncoded: false) ?? ""
            let credentials = HTTPClient.Authorization.basic(username: user, password: password)
            headers.add(name: "Authorization", value: credentials.headerValue)
        }
        try self.init(
            url: request.url.absoluteString,
            method: HTTPMethod(rawValue: request.method.rawValue),
            headers: headers,
            body: request.body.map { .bytes($0) }
        )
    }
}
#endif
