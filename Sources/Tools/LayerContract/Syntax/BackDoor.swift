/// A way to reach code without an import: through the run-time name of its class or type, or through its symbol.
struct BackDoor: Hashable, Sendable {
    /// The module that a ring must be allowed to import in order to use the back door.
    enum Key: Hashable, Sendable {
        /// Foundation or the Objective-C runtime.
        case objectiveC
        /// The platform's C library.
        case platform
        /// None. No ring may use the back door.
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

    /// The call or attribute as written.
    let text: String
    let key: Key
    /// The line number, starting at 1.
    let line: Int

    /// Creates a back door for a call with this name; `nil` if the call does not bypass imports.
    init?(calling name: String, line: Int) {
        guard let key = Self.calls[name] else { return nil }
        (text, self.key, self.line) = (name, key, line)
    }

    /// Creates a back door for an attribute with this name; `nil` if the attribute does not bypass imports.
    init?(attribute name: String, line: Int) {
        guard let key = Self.attributes[name] else { return nil }
        (text, self.key, self.line) = ("@\(name)", key, line)
    }

    /// Returns the back doors in a Swift source.
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
