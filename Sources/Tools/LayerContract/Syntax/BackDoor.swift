/// A way to reach code without an import: by the name of its class or type at run time, or by its symbol.
struct BackDoor: Hashable, Sendable {
    /// What has to be importable, so that the way is open to those who use it.
    enum Key: Hashable, Sendable {
        /// Foundation or the runtime of Objective-C.
        case objectiveC
        /// The platform's C library.
        case platform
        /// Nothing: no ring may.
        case none
    }

    private static let calls: [String: Key] = [
        "NSClassFromString": .objectiveC, "NSProtocolFromString": .objectiveC, "objc_getClass": .objectiveC,
        "objc_lookUpClass": .objectiveC, "objc_getRequiredClass": .objectiveC, "objc_msgSend": .objectiveC,
        "dlopen": .platform, "dlsym": .platform, "dlvsym": .platform, "dlmopen": .platform,
        "GetProcAddress": .platform, "LoadLibraryA": .platform, "LoadLibraryW": .platform,
        "_typeByName": .none, "_getTypeByMangledNameInContext": .none,
    ]
    private static let attributes: [String: Key] = [
        "_silgen_name": .none, "_extern": .none, "_cdecl": .platform, "c": .platform,
    ]

    /// The call or attribute as it is written.
    let text: String
    let key: Key
    /// Its line, from 1.
    let line: Int

    /// A call of this name; `nil` if it is no way past the imports.
    init?(calling name: String, line: Int) {
        guard let key = Self.calls[name] else { return nil }
        (text, self.key, self.line) = (name, key, line)
    }

    /// An attribute of this name; `nil` if it is no way past the imports.
    init?(attribute name: String, line: Int) {
        guard let key = Self.attributes[name] else { return nil }
        (text, self.key, self.line) = ("@\(name)", key, line)
    }

    /// Those in a Swift source.
    static func all(in tokens: [Token]) -> [BackDoor] {
        tokens.indices.compactMap { index in
            let token = tokens[index]
            guard token.isName else { return nil }
            let isAttribute = index > 0 && tokens[index - 1].isMark("@")
            return isAttribute
                ? BackDoor(attribute: token.text, line: token.line) : BackDoor(calling: token.text, line: token.line)
        }
    }
}
