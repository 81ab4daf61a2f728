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
    var parser = CacheDirectiveParser(text)
    while let (name, argument) = parser.next() {
        precondition(name.map { text.lowercased().contains($0.rawValue) } ?? true)
        precondition(argument.map { $0.count <= text.utf8.count } ?? true)
    }
    precondition(parser.isAtEnd)
    var elements = text.bytes
    while let element = elements.takeListElement() { precondition(!element.isEmpty) }
    precondition(elements.isEmpty)
    if let tag = EntityTag(text) {
        precondition(EntityTag.list([text], contains: tag) && EntityTag.list(["\"x\", \(text)"], contains: tag))
    }
    return 0
}
