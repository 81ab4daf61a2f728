import InwardCommandLine

/// The name of a subject, in all forms that its files need.
///
/// The initializer checks that types can have the name.
struct SubjectName: Equatable {
    /// The singular as a type name, such as `BlogEntry`.
    let singular: String
    /// The plural as a type name, such as `BlogEntries`. The subject's folders have this name.
    let plural: String

    /// Creates a subject name. The plural defaults to the regular English one.
    ///
    /// - Throws: A ``UsageError`` if either name cannot be used.
    init(_ singular: String, plural: String? = nil) throws(UsageError) {
        self.singular = singular
        self.plural = plural ?? singular.englishPlural
        for name in [self.singular, self.plural] {
            try Self.check(name)
        }
    }

    /// The singular as a variable or function name, such as `blogEntry`.
    var lowerSingular: String { singular.lowerCamelCase }
    /// The plural as a variable or function name, such as `blogEntries`.
    var lowerPlural: String { plural.lowerCamelCase }
    /// The singular in a sentence, such as `blog entry`.
    var proseSingular: String { singular.prose }
    /// The plural in a sentence, such as `blog entries`.
    var prosePlural: String { plural.prose }

    private static func check(_ name: String) throws(UsageError) {
        guard let first = name.utf8.first, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first),
            name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
        else {
            throw UsageError(
                "“\(name)” is not a type name: use ASCII letters and digits, and begin with a capital letter"
            )
        }
        guard !ReservedNames.keywords.contains(name.lowerCamelCase), !ReservedNames.keywords.contains(name) else {
            throw UsageError("“\(name)” is a Swift keyword: choose another name")
        }
        guard !ReservedNames.types.contains(name) else {
            throw UsageError("“\(name)” is a type of Swift or Foundation: choose another name")
        }
    }
}

/// The names that subjects cannot have, because their files would not compile or would change the meaning of other files.
enum ReservedNames {
    /// The keywords, which cannot name a variable or a type.
    static let keywords: Set<String> = [
        "Any", "Protocol", "Self", "Type", "any", "as", "associatedtype", "await", "break", "case", "catch", "class",
        "continue", "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false",
        "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil",
        "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "self", "some",
        "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var",
        "where", "while",
    ]

    /// The types of the standard library, Synchronization, Testing, and Foundation.
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
}

extension String {
    /// The words of a name in upper camel case. An abbreviation, such as `URL`, is one word, and so is its plural, `URLs`.
    var words: [String] {
        let letters = Array(self)
        var words: [String] = []
        for (index, letter) in letters.enumerated() {
            let before = index > 0 ? letters[index - 1] : nil
            let after = letters[(index + 1)...]
            let endsAbbreviation = after.first?.isLowercase == true && after != ["s"]
            if letter.isUppercase, before?.isLowercase != false || endsAbbreviation {
                words.append(String(letter))
            } else {
                words[words.endIndex - 1].append(letter)
            }
        }
        return words
    }

    /// The lower camel case form of a name in upper camel case.
    var lowerCamelCase: String {
        let words = words
        return (words.first?.lowercased() ?? "") + words.dropFirst().joined()
    }

    /// The form of a name in upper camel case within a sentence.
    var prose: String {
        words.map { $0.isAbbreviation ? $0 : $0.lowercased() }.joined(separator: " ")
    }

    /// The words as the beginning of a sentence.
    var capitalizedSentence: String { prefix(1).uppercased() + dropFirst() }

    /// Whether the word is an abbreviation in capitals, possibly in the plural.
    var isAbbreviation: Bool { count(where: \.isUppercase) > 1 }
}

extension String {
    /// The regular English plural. `--plural` handles exceptions.
    var englishPlural: String {
        if hasSuffix("is") { return dropLast(2) + "es" }
        if ["s", "x", "z", "ch", "sh"].contains(where: hasSuffix) { return self + "es" }
        if hasSuffix("y"), let before = dropLast().last, !"aeiou".contains(before.lowercased()) {
            return dropLast() + "ies"
        }
        return self + "s"
    }
}

extension String {
    /// The words with their indefinite article: `a blog entry`, `an order`, `a user`, `an hour`.
    var withArticle: String { (beginsWithVowelSound ? "an " : "a ") + self }

    private var beginsWithVowelSound: Bool {
        guard let first = split(separator: " ").first, let letter = first.first else { return false }
        // The names of these letters begin with a vowel sound, such as F and M.
        if String(first).isAbbreviation { return "AEFHILMNORSX".contains(letter) }
        if ["heir", "honest", "honor", "honour", "hour"].contains(where: first.hasPrefix) { return true }
        if ["unin", "unim"].contains(where: first.hasPrefix) { return true }
        if ["eu", "one", "uni", "use", "usa", "usu", "uti"].contains(where: first.hasPrefix) { return false }
        return "aeiou".contains(letter)
    }
}
