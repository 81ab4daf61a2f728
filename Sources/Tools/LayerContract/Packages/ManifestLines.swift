/// The locations of declarations in a package manifest.
///
/// ```swift
/// import Foundation
///
/// let manifest = ManifestLines(reading: Array(try Data(contentsOf: URL(filePath: ManifestLines.file))))
/// ```
public struct ManifestLines: Sendable {
    /// The manifest's file name.
    public static let file = "Package.swift"

    private static let declaringWords: Set<String> = [
        "target", "executableTarget", "testTarget", "plugin", "macro", "systemLibrary", "binaryTarget",
    ]

    private let tokens: [Token]
    /// The token range of each target's declaration, from its period to its closing parenthesis.
    private var declarations: [String: Range<Int>] = [:]

    /// Creates the locations from a manifest in UTF-8.
    ///
    /// If the manifest cannot be parsed, every location is its first line.
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

    /// Returns the location of a target's declaration; the first line if the manifest has no declaration with a literal name.
    func location(ofTarget target: String) -> SourceLocation {
        SourceLocation(file: Self.file, line: declarations[target].map { tokens[$0.lowerBound].line } ?? 1)
    }

    /// Returns the location of a dependency in a target's declaration; the target's location if it is declared elsewhere.
    func location(ofDependency dependency: TargetDependency, of target: String) -> SourceLocation {
        location(ofTarget: target) { $0.kind == .string && $0.text == dependency.name }
    }

    /// Returns the location of a build setting in a target's declaration; the target's location if it is declared elsewhere.
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

    /// Returns the location of the first matching token after a target's name, or the target's location if there is no such token.
    private func location(ofTarget target: String, _ isMeant: (Token) -> Bool) -> SourceLocation {
        let afterName = declarations[target].map { tokens[$0].dropFirst(6) } ?? []
        guard let token = afterName.first(where: isMeant) else { return location(ofTarget: target) }
        return SourceLocation(file: Self.file, line: token.line)
    }

    /// Returns the range of a `.target(name: "…", …)` declaration that begins at the index. Declarations of plugin products
    /// look the same, but have a `targets` argument.
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
