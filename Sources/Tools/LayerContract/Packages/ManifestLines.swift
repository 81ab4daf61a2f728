/// Where a manifest says what it says.
public struct ManifestLines: Sendable {
    /// The manifest's file name.
    public static let file = "Package.swift"

    private static let declaringWords: Set<String> = [
        "target", "executableTarget", "testTarget", "plugin", "macro", "systemLibrary", "binaryTarget",
    ]

    private let tokens: [Token]
    /// The declaration of each target, from its period up to its last parenthesis.
    private var declarations: [String: Range<Int>] = [:]

    /// Reads a manifest in UTF-8. One that cannot be read has no lines to name.
    public init(reading bytes: [UInt8]) {
        tokens = (try? Lexer.tokens(of: bytes)) ?? []
        var index = 0
        while index + 5 < tokens.count {
            if let declaration = declaration(at: index) {
                let name = tokens[index + 5].text
                declarations[name] = declarations[name] ?? declaration
                index = declaration.upperBound
            } else {
                index += 1
            }
        }
    }

    /// Where a target is declared; the first line if the manifest makes it otherwise than by its name.
    func location(ofTarget target: String) -> SourceLocation {
        SourceLocation(file: Self.file, line: declarations[target].map { tokens[$0.lowerBound].line } ?? 1)
    }

    /// Where a target declares a dependency; where the target is declared if the manifest writes it elsewhere.
    func location(ofDependency dependency: TargetDependency, of target: String) -> SourceLocation {
        location(ofTarget: target) { $0.kind == .string && $0.text == dependency.name }
    }

    /// Where a target declares a build setting; where the target is declared if the manifest writes it elsewhere.
    func location(of setting: BuildSetting, of target: String) -> SourceLocation {
        location(ofTarget: target) { token in
            switch setting.kind {
            case .unsafeFlags: token.isWord("unsafeFlags")
            case .linkedLibrary(let value), .linkedFramework(let value), .headerSearchPath(let value),
                .upcomingFeature(let value), .swiftLanguageMode(let value):
                token.kind == .string && token.text == value
            }
        }
    }

    /// The first token of this sort behind a target's name; where the target is declared if there is none.
    private func location(ofTarget target: String, _ isMeant: (Token) -> Bool) -> SourceLocation {
        let behindName = declarations[target].map { tokens[$0].dropFirst(6) } ?? []
        guard let token = behindName.first(where: isMeant) else { return location(ofTarget: target) }
        return SourceLocation(file: Self.file, line: token.line)
    }

    /// `.target(name: "…", …)`, if one begins here. A plugin's product has the same form, and targets.
    private func declaration(at index: Int) -> Range<Int>? {
        guard tokens[index].isMark("."), Self.declaringWords.contains(tokens[index + 1].text),
            tokens[index + 2].isMark("("), tokens[index + 3].isWord("name"), tokens[index + 4].isMark(":"),
            tokens[index + 5].kind == .string
        else { return nil }
        var depth = 1
        var end = index + 3
        while end < tokens.count, depth > 0 {
            if tokens[end].isMark("(") { depth += 1 }
            if tokens[end].isMark(")") { depth -= 1 }
            if depth == 1, tokens[end].isWord("targets") { return nil }
            end += 1
        }
        return index..<end
    }
}
