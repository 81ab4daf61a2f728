import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension URL {
    /// An address to transfer from or to.
    static func example(_ path: String = "data") throws -> URL {
        try #require(URL(string: "http://upstream.test/\(path)"))
    }
}
