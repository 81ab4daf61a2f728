#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The encoding base64url without padding (RFC 4648 section 5), whose characters need no escaping in a URL.
enum Base64URL {
    /// Returns the bytes as text.
    static func text(of bytes: some Sequence<UInt8>) -> String {
        let text = Data(bytes).base64EncodedString().utf8.compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: byte
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the bytes of a text, or `nil` if ``text(of:)`` does not write it.
    ///
    /// Decoders often ignore the unused bits of the last character, so that several texts stand for the same bytes. Here, only
    /// one does.
    static func bytes(of text: some StringProtocol) -> [UInt8]? {
        var standard: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "-"): standard.append(UInt8(ascii: "+"))
            case UInt8(ascii: "_"): standard.append(UInt8(ascii: "/"))
            default: standard.append(byte)
            }
        }
        while standard.count % 4 != 0 { standard.append(UInt8(ascii: "=")) }
        guard let data = Data(base64Encoded: Data(standard)), self.text(of: data) == text else { return nil }
        return [UInt8](data)
    }
}
