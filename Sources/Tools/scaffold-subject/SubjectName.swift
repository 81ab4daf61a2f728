/// The name of a subject in every form that its files need. Its initializer checks that types can have the name.
struct SubjectName: Equatable {
    /// One of them as a type, such as `BlogEntry`.
    let singular: String
    /// Several of them likewise, such as `BlogEntries`. Their folders have this name.
    let plural: String

    /// Takes a name and its plural, which is the usual English one if none is given.
    ///
    /// - Throws: a ``UsageError`` if one of the two cannot be used.
    init(_ singular: String, plural: String? = nil) throws(UsageError) {
        self.singular = singular
        self.plural = plural ?? singular.englishPlural
        for name in [self.singular, self.plural] {
            try Self.check(name)
        }
    }

    /// One of them as a variable or function, such as `blogEntry`.
    var lowerSingular: String { singular.lowerCamelCase }
    /// Several of them likewise, such as `blogEntries`.
    var lowerPlural: String { plural.lowerCamelCase }
    /// One of them in a sentence, such as `blog entry`.
    var proseSingular: String { singular.prose }
    /// Several of them in a sentence, such as `blog entries`.
    var prosePlural: String { plural.prose }

    private static func check(_ name: String) throws(UsageError) {
        guard let first = name.utf8.first, (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(first),
            name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) })
        else { throw UsageError("a name has ASCII letters and digits and begins with a capital, unlike “\(name)”") }
        guard !ReservedNames.keywords.contains(name.lowerCamelCase), !ReservedNames.keywords.contains(name) else {
            throw UsageError("\(name) cannot be a name: it is a keyword of Swift")
        }
        guard !ReservedNames.types.contains(name) else {
            throw UsageError("\(name) cannot be a name: Swift or Foundation has a type of that name")
        }
    }
}

/// Names that no subject can have: its files would not compile, or would change the meaning of other files.
enum ReservedNames {
    /// Keywords, which cannot name a variable or a type.
    static let keywords: Set<String> = [
        "Any", "Protocol", "Self", "Type", "any", "as", "associatedtype", "await", "break", "case", "catch", "class",
        "continue", "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false",
        "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil",
        "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "self", "some",
        "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var",
        "where", "while",
    ]

    /// Types of the standard library, Synchronization, Testing and Foundation.
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
    /// The words of a name in upper camel case. An abbreviation such as `URL` is one word, and so are several: `URLs`.
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

    /// A name in upper camel case as variables and functions are named.
    var lowerCamelCase: String {
        let words = words
        return (words.first?.lowercased() ?? "") + words.dropFirst().joined()
    }

    /// A name in upper camel case as it is written within a sentence.
    var prose: String {
        words.map { $0.isAbbreviation ? $0 : $0.lowercased() }.joined(separator: " ")
    }

    /// These words of a sentence as its beginning.
    var capitalizedSentence: String { prefix(1).uppercased() + dropFirst() }

    /// Whether these are capitals to be read one by one, perhaps several of them.
    var isAbbreviation: Bool { count(where: \.isUppercase) > 1 }
}

extension String {
    /// The plural by the rules of English that have few exceptions; `--plural` is for the exceptions.
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
    /// These words behind the article that they are spoken with: `a blog entry`, `an order`, `a user`, `an hour`.
    var withArticle: String { (beginsWithVowelSound ? "an " : "a ") + self }

    private var beginsWithVowelSound: Bool {
        guard let first = split(separator: " ").first, let letter = first.first else { return false }
        // The names of these letters begin with a vowel: an F, an M.
        if String(first).isAbbreviation { return "AEFHILMNORSX".contains(letter) }
        if ["heir", "honest", "honor", "honour", "hour"].contains(where: first.hasPrefix) { return true }
        if ["unin", "unim"].contains(where: first.hasPrefix) { return true }
        if ["eu", "one", "uni", "use", "usa", "usu", "uti"].contains(where: first.hasPrefix) { return false }
        return "aeiou".contains(letter)
    }
}
