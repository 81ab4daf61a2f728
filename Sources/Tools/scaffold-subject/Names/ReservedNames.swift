/// Names that no subject can have, because the files written for it would not compile or would change what others mean.
enum ReservedNames {
    /// Words of the language, as they would be met where a variable or a type is expected.
    static let keywords: Set<String> = [
        "Any", "Protocol", "Self", "Type", "any", "as", "associatedtype", "await", "break", "case", "catch", "class",
        "continue", "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false",
        "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil",
        "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "self", "some",
        "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var",
        "where", "while",
    ]

    /// Types that are there without an import, and those of Synchronization, Testing and Foundation that the package
    /// uses next to its entities.
    static let types: Set<String> = [
        "Actor", "AnyHashable", "Array", "ArraySlice", "AsyncSequence", "AsyncStream", "Bool", "CancellationError",
        "Character", "Clock", "ClosedRange", "Codable", "CodingKey", "Collection", "CommandLine", "Comparable",
        "ContiguousArray", "ContinuousClock", "CustomStringConvertible", "Data", "Date", "Decodable", "Decoder",
        "DecodingError", "Dictionary", "Double", "Duration", "Encodable", "Encoder", "EncodingError", "Equatable",
        "Error", "Executor", "FileHandle", "FileManager", "Float", "Hashable", "Hasher", "Identifiable", "Instant",
        "Int", "Int8", "Int16", "Int32", "Int64", "Iterator", "JSONDecoder", "JSONEncoder", "KeyPath", "MainActor",
        "Mirror", "Mutex", "Never", "Optional", "Range", "Regex", "Result", "Sendable", "Sequence", "Set", "Slice",
        "StaticString", "String", "Substring", "Suite", "SuspendingClock", "Swift", "Task", "TaskGroup", "TaskLocal",
        "TaskPriority", "Test", "Testing", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "URL", "URLQueryItem",
        "URLRequest", "URLSession", "UUID", "Unicode", "Void",
    ]

    /// The subjects that the package began with.
    static let subjects: Set<String> = ["Post", "User"]
}
