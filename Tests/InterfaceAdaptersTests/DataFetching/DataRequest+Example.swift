import InterfaceAdapters

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension DataRequest {
    /// A request for an address that is known to be one.
    static func example(
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
