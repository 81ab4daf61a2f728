/// What a subject is called, in every form that its files need. A name that exists can be used as a type.
struct SubjectName: Equatable {
    /// One of them as a type, such as `BlogEntry`.
    let singular: String
    /// Several of them likewise, such as `BlogEntries`. Their folders are called so.
    let plural: String

    /// Takes a name, and its usual English plural unless told another.
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
        else { throw UsageError("a name is of ASCII letters and digits and begins in upper case, not “\(name)”") }
        guard !ReservedNames.keywords.contains(name.lowerCamelCase), !ReservedNames.keywords.contains(name) else {
            throw UsageError("\(name) cannot be a name: it is a word of the language")
        }
        guard !ReservedNames.types.contains(name) else {
            throw UsageError("\(name) cannot be a name: a type of Swift or Foundation is called so")
        }
        guard !ReservedNames.subjects.contains(name) else {
            throw UsageError("\(name) cannot be a name: the package has that subject")
        }
    }
}
