import Foundation

/// A fenced block of code in a Markdown file, or in the documentation comments of a Swift file.
struct CodeBlock {
    /// The path of the file, relative to the package, such as `README.md`.
    let path: String
    /// The line number of the first line of code, starting at 1.
    let line: Int
    let language: String
    let lines: [String]

    /// The import declarations.
    var imports: [String] { lines.filter(Self.isImport) }

    /// Whether all lines are declarations, so that the block can be compiled at file level.
    var isDeclaration: Bool {
        let modifiers = #/(?:(?:public|internal|private|fileprivate|final|open|indirect|nonisolated) )*/#
        let start = #/struct|enum|actor|class|extension|protocol|func|typealias|import|@\w+|//|\}|\)|#if|#else|#endif/#
        return lines.allSatisfy { line in
            line.isEmpty || line.hasPrefix(" ") || line.trimmingPrefix(modifiers).prefixMatch(of: start) != nil
        }
    }

    /// Whether the block has a declaration that Swift allows only at file level.
    var needsFileLevel: Bool {
        let keyword = #/^(?:(?:public|private|fileprivate|final) )*(?:extension|protocol)\b|^@Test|^@Suite|^@main/#
        return lines.contains { $0.contains(keyword) }
    }

    /// Whether the block is a package manifest, or a part of one.
    var isManifest: Bool {
        lines.first.map { $0.hasPrefix("// swift-tools-version") || $0.hasPrefix("import PackageDescription") } ?? false
    }

    /// The path of the file that the block quotes, from a first line such as `// Sources/Rings/Entities/User.swift`; `nil` if
    /// it is not a quotation.
    var quotedPath: String? {
        lines.first?.wholeMatch(of: /\/\/ ((?:Sources|Tests|Examples)\/\S+\.swift)/).map { String($0.1) }
    }

    /// The code to compile, with source locations, so that the compiler reports errors at their place in the document.
    var located: String {
        let code = lines.map { Self.isImport($0) ? "" : $0 }
        return "#sourceLocation(file: \"\(path)\", line: \(line))\n" + code.joined(separator: "\n") + "\n"
    }

    private static func isImport(_ line: String) -> Bool { line.prefixMatch(of: #/(?:@testable )?import\b/#) != nil }

    /// The languages that a fence may name. Anything else, such as `Swift` or `swift title=x`, would not be compiled.
    private static let languages: Set = ["swift", "text", "json", "sh", "http", "mermaid"]

    /// Returns the blocks of a file, and the places of code that would not be compiled: fences with another language, unclosed
    /// fences, and in Swift files indented code and `/**` comments.
    static func blocks(of path: String, in text: String) -> (blocks: [CodeBlock], malformed: [String]) {
        let isSwift = path.hasSuffix(".swift")
        var (blocks, malformed): ([CodeBlock], [String]) = ([], [])
        var open: (line: Int, language: String, indentation: Int, lines: [String])?
        var isAfterEmptyLine = false
        // As bytes where possible, because every line of the package passes through here in a debug build.
        let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (number, line) in zip(1..., lines) {
            var content = line
            if isSwift {
                content = content.drop { $0 == UInt8(ascii: " ") }
                guard content.starts(with: "///".utf8) else {
                    if let ended = open { malformed.append("\(path):\(ended.line - 1)") }
                    if content.starts(with: "/**".utf8) { malformed.append("\(path):\(number)") }
                    (open, isAfterEmptyLine) = (nil, false)
                    continue
                }
                content = content.dropFirst(3)
                if content.first == UInt8(ascii: " ") { content = content.dropFirst() }
            }
            let code = content.drop { $0 == UInt8(ascii: " ") }
            let spaces = content.count - code.count
            if code.starts(with: "```".utf8) {
                if let ended = open {
                    blocks.append(CodeBlock(path: path, line: ended.line, language: ended.language, lines: ended.lines))
                    open = nil
                } else {
                    let language = String(decoding: code.dropFirst(3), as: UTF8.self)
                    open = (number + 1, language, spaces, [])
                    if !languages.contains(language) { malformed.append("\(path):\(number)") }
                }
            } else if let indentation = open?.indentation {
                open?.lines.append(String(decoding: content.dropFirst(min(spaces, indentation)), as: UTF8.self))
            } else if code.starts(with: "~~~".utf8) || isSwift && isAfterEmptyLine && spaces >= 4 {
                malformed.append("\(path):\(number)")
            }
            isAfterEmptyLine = code.isEmpty
        }
        if let open { malformed.append("\(path):\(open.line - 1)") }
        return (blocks, malformed)
    }
}
