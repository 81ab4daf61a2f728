/// The facts about a source file that the rules need.
///
/// ```swift
/// let source = Array("import Core\nstruct Row { let comment: Comment }".utf8)
/// let facts = try SourceFacts(reading: source, path: "Sources/App/Row.swift", target: "App", subject: nil)
/// print(facts.imports.map(\.module))  // ["Core"]
/// ```
///
/// The facts are derived from tokens, without resolving names. Facts that the tokens do not settle are left out, so that the
/// check reports no false positives.
public struct SourceFacts: Sendable {
    /// The file's path relative to the package root.
    public let path: String
    /// The name of the file's target.
    public let target: String
    /// The top-level folder of the target that contains the file, or `nil` if the file is not in a folder.
    public let subject: String?
    /// The imports, in source order.
    public let imports: [ImportDeclaration]
    /// The conditions that ask whether a module can be imported.
    public let questions: [ModuleQuestion]
    /// The headers and modules that a C, C++, or Objective-C file includes, or the headers that a module map names.
    public let includes: [IncludeDirective]

    /// The libraries and frameworks that a module map links.
    let moduleMapLinks: [ModuleMapScanner.Link]
    /// The uses of code that bypass imports.
    let backDoors: [BackDoor]
    /// The declarations in the source.
    let declarations: Declarations
    /// The types that the source mentions.
    let mentions: Mentions

    /// Creates the facts from a Swift source.
    ///
    /// - Parameters:
    ///   - bytes: The source in UTF-8.
    ///   - path: The file's path relative to the package root.
    ///   - target: The name of the file's target.
    ///   - subject: The top-level folder of the target that contains the file, or `nil` if the file is not in a folder.
    /// - Throws: A ``SourceError`` if the source is not valid UTF-8 or has an unclosed comment or string.
    /// - Complexity: O(`bytes`)
    public init(reading bytes: [UInt8], path: String, target: String, subject: String?) throws(SourceError) {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw SourceError(location: SourceLocation(file: path, line: 1), explanation: "The source is not UTF-8.")
        }
        let tokens: [Token]
        do {
            tokens = try Lexer.tokens(of: bytes)
        } catch {
            throw SourceError(
                location: SourceLocation(file: path, line: error.line),
                explanation: "\(error.what) that begins here is not closed."
            )
        }
        self.path = path
        self.target = target
        self.subject = subject
        let scanner = ImportScanner(tokens)
        imports = scanner.imports
        questions = scanner.questions
        includes = []
        moduleMapLinks = []
        backDoors = BackDoor.all(in: tokens)
        let scanned = DeclarationScanner.scan(tokens)
        declarations = scanned.declarations
        mentions = Mentions(tokens, scopes: scanned.scopesOfTokens)
    }

    /// Creates the facts from a C, C++, or Objective-C source or header, or from a module map.
    ///
    /// - Parameters:
    ///   - bytes: The file's text. Bytes that are not UTF-8 may occur in comments and strings.
    ///   - path: The file's path relative to the package root. The path of a module map ends with `.modulemap`.
    ///   - target: The name of the file's target.
    /// - Complexity: O(`bytes`)
    public init(readingC bytes: [UInt8], path: String, target: String) {
        self.path = path
        self.target = target
        subject = nil
        imports = []
        questions = []
        declarations = Declarations()
        mentions = Mentions()
        if path.hasSuffix(".modulemap") {
            let map = ModuleMapScanner(bytes)
            includes = map.headers
            moduleMapLinks = map.links
            backDoors = []
        } else {
            let scanner = IncludeScanner(bytes)
            includes = scanner.includes
            moduleMapLinks = []
            backDoors = scanner.backDoors
        }
    }
}

/// An error that prevents a source from being read.
///
/// ```swift
/// func facts(of bytes: [UInt8], at path: String) -> SourceFacts? {
///     do {
///         return try SourceFacts(reading: bytes, path: path, target: "App", subject: nil)
///     } catch {
///         print(error)  // Sources/App/Row.swift:7: A string that begins here is not closed.
///         return nil
///     }
/// }
/// ```
public struct SourceError: Error, Hashable, Sendable {
    /// The location of the problem.
    public let location: SourceLocation
    /// A sentence that describes the problem.
    public let explanation: String

    /// Creates an error.
    public init(location: SourceLocation, explanation: String) {
        self.location = location
        self.explanation = explanation
    }
}

extension SourceError: CustomStringConvertible {
    /// The location and a description of the problem.
    public var description: String { "\(location): \(explanation)" }
}

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

    /// Creates a back door for a call with this name, or `nil` if the call does not bypass imports.
    init?(calling name: String, line: Int) {
        guard let key = Self.calls[name] else { return nil }
        (text, self.key, self.line) = (name, key, line)
    }

    /// Creates a back door for an attribute with this name, or `nil` if the attribute does not bypass imports.
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
