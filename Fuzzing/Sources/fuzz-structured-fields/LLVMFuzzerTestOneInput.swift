@testable import InwardFetching

/// Parses bytes as a dictionary of structured fields, and as cache directives.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafeRawPointer, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
    if let dictionary = StructuredDictionary(text) {
        // What was understood is understood again, and spaces at the end change nothing.
        precondition(StructuredDictionary(text + " ") == dictionary)
        let written = dictionary.members.map { key, value in
            switch value {
            case .integer(let number): "\(key)=\(number)"
            case .boolean(let isSet): "\(key)=?\(isSet ? 1 : 0)"
            case .string(let text):
                "\(key)=\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
            case .other: "\(key)=other"
            }
        }
        precondition(StructuredDictionary(written.joined(separator: ", ")) == dictionary)
        // An error anywhere makes the whole field invalid.
        if !dictionary.members.isEmpty { precondition(StructuredDictionary(text + ",&") == nil) }
    }
    // A directive after anything but an open string is read.
    let closed = text.replacing("\"", with: "'")
    let quoted = "x=\"\(closed.replacing("\\", with: "\\\\"))\",\(closed)"
    for text in [closed, quoted] {
        var directives = CacheDirectives.none
        directives.read(text + ",immutable")
        precondition(directives.immutable)
    }
    var directives = CacheDirectives.none
    directives.read(text)
    text.withBytes { bytes in
        var position = 0
        while let element = bytes.nextListElement(at: &position) {
            precondition(!element.isEmpty && element.upperBound <= position)
        }
        precondition(position == bytes.count)
    }
    if let tag = EntityTag(text) {
        precondition(EntityTag.list([text], contains: tag) && EntityTag.list(["\"x\", \(text)"], contains: tag))
    }
    return 0
}
