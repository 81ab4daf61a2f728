package import InwardFetching

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension DataRequest {
    /// Returns a request for a URL, or throws if the text is not a URL.
    package static func example(
        _ address: String = "http://upstream.test/users",
        method: Method = .get,
        headerFields: HeaderFields = [],
        body: Data? = nil
    ) throws -> DataRequest {
        guard let url = URL(string: address) else { throw InvalidURLError() }
        return DataRequest(method: method, url: url, headerFields: headerFields, body: body)
    }

    private struct InvalidURLError: Error {}
}
