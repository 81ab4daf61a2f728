#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension HeaderFields {
    /// What tells this version from any other, byte for byte (RFC 9110 section 8.8.1): a strong entity tag, or the time of the
    /// last change if the answer was made a minute later at least, so that nothing can have changed within the same second.
    var strongValidator: String? {
        if let tag = self[.etag] { return Self.isStrong(tag) ? tag : nil }
        guard let text = self[.lastModified], let changed = Date(httpDate: text),
            let made = self[.date].flatMap({ Date(httpDate: $0) }), made.timeIntervalSince(changed) >= 60
        else { return nil }
        return text
    }

    /// Whether a text is one entity tag, and a strong one: text between quotation marks, without another one.
    private static func isStrong(_ tag: String) -> Bool {
        let mark = UInt8(ascii: "\"")
        return tag.utf8.count > 1 && tag.utf8.first == mark && tag.utf8.last == mark
            && !tag.utf8.dropFirst().dropLast().contains(mark)
    }
}
