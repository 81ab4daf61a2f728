/// What the contract wants to know of a source file.
///
/// It is read from the tokens, without resolving names: what the source alone does not settle is left out, so that
/// nothing is reported that a compiler would know better.
public struct SourceFacts: Sendable {
    /// The file's path from the package's root.
    public let path: String
    /// The target that it belongs to.
    public let target: String
    /// The folder directly in the target's folder that it is in; `nil` if it is in none.
    public let subject: String?
    /// Its imports, in the order of the file.
    public let imports: [ImportDeclaration]
    /// The modules that its conditions ask for.
    public let questions: [ModuleQuestion]
    /// The headers and modules that it includes, if it is C, C++ or Objective-C, or names, if it is a module map.
    public let includes: [IncludeDirective]

    /// What a module map links.
    let moduleMapLinks: [ModuleMapScanner.Link]
    /// The ways past the imports that it takes.
    let backDoors: [BackDoor]
    /// What it declares.
    let declarations: Declarations
    /// What it mentions.
    let mentions: Mentions

    /// Reads a source.
    ///
    /// - Parameters:
    ///   - bytes: the source in UTF-8.
    ///   - path: the file's path from the package's root.
    ///   - target: the target that it belongs to.
    ///   - subject: the folder directly in the target's folder that it is in.
    /// - Throws: a ``SourceError`` if the source is not UTF-8, or a comment or string in it is never closed.
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
                explanation: "\(error.what) that begins here never ends."
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

    /// Reads a C, C++ or Objective-C source or header, or a module map.
    ///
    /// - Parameters:
    ///   - bytes: its text. What is not UTF-8 stands in comments and strings.
    ///   - path: the file's path from the package's root; a module map's ends with `.modulemap`.
    ///   - target: the target that it belongs to.
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

/// What keeps a source from being read.
public struct SourceError: Error, Hashable, Sendable {
    /// Where.
    public let location: SourceLocation
    /// What is wrong, in a sentence.
    public let explanation: String

    /// What keeps a source from being read.
    public init(location: SourceLocation, explanation: String) {
        self.location = location
        self.explanation = explanation
    }
}

extension SourceError: CustomStringConvertible {
    /// Where, and what is wrong.
    public var description: String { "\(location): \(explanation)" }
}
