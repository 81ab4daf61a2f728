import Testing

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

extension URL {
    /// An address to transfer from or to.
    package static func example(_ path: String = "data") throws -> URL {
        try #require(URL(string: "http://upstream.test/\(path)"))
    }
}
