package import InwardFetching

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension DataRequest {
    /// A request for an address that is known to be one.
    package static func example(
        _ address: String = "http://upstream.test/users",
        method: Method = .get,
        headerFields: HeaderFields = [],
        body: Data? = nil
    ) throws -> DataRequest {
        guard let url = URL(string: address) else { throw FieldlessError() }
        return DataRequest(method: method, url: url, headerFields: headerFields, body: body)
    }

    private struct FieldlessError: Error {}
}
