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
        declarations = DeclarationScanner.declarations(of: tokens)
        mentions = Mentions(tokens)
    }
}
