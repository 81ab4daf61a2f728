import Testing

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension URL {
    /// Returns a URL of the example upstream.
    package static func example(_ path: String = "data") throws -> URL {
        try #require(URL(string: "http://upstream.test/\(path)"))
    }
}
