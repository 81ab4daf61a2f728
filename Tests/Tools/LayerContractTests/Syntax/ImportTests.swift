import LayerContract
import Testing

struct ImportTests {
    private func facts(_ source: String) throws(SourceError) -> SourceFacts {
        try SourceFacts(reading: Array(source.utf8), path: "Sources/A/A.swift", target: "A", subject: nil)
    }

    private func modules(_ source: String) throws(SourceError) -> [String] { try facts(source).imports.map(\.module) }

    @Test(arguments: [
        "import M", "  import M // why", "import/* why */M", "import\nM", "import `M`", "import M.Sub",
        "import M.Sub.Deep",
        "import struct M.S", "import struct M::S", "import func M::Deep::f", "@_exported import class M::C",
        "import class M.C", "import enum M.E", "import protocol M.P", "import typealias M.T",
        "import func M.f", "import let M.l", "import var M.v", "import actor M.A", "public import M",
        "package import M", "internal import M", "fileprivate import M", "private import M", "@testable import M",
        "@_exported import M", "@preconcurrency import M", "@_implementationOnly import M", "@_spi(Secret) import M",
        "@_spi(Secret) @testable public import struct M.S", "@_spi(A(b)) import M",
        "@preconcurrency\n@testable\nimport M",
        "@_exported\n// why\npublic import M", "let a = 1; import M", "struct A {}\nimport M", "struct A {} import M",
        "#if os(Windows)\nimport M\n#endif", "#if canImport(X) && !DEBUG\n#elseif Y\nimport M\n#endif",
        "#if A\n#else\n#if B\nimport M\n#endif\n#endif", "#if A\nstruct B {\n#endif\nimport M",
        "#!/usr/bin/env swift\nimport M", "let a = \"\\(\"import N\")\"\nimport M", "let r = /\"/\nimport M",
        "let r = #/ \" /#\nimport M", "let a = 1 / 2 // \"\nimport M", "let a = \"\"\"\nimport N\n\"\"\"\nimport M",
        "let a = #\"\\(import N\"#\nimport M", "/* /* */ import N */ import M", "let a = f(b / c, d / \"e\")\nimport M",
        "let a = \"unclosed\nimport M", "\u{FEFF}import M",
        "import M\r\nimport M".replacing("\r\nimport M", with: "\r\n"),
        "let a = #/\n\" import N\n/#\nimport M", "let a = \"\"\nimport M", "let a = #\"\"#\nimport M",
        "let r = 1...\nimport M", "let q = #\"\"\"#\nimport M\nlet r = #\"\"\"#", "let x = a!/(b/c)\nimport M",
        "let r = /[(]x/\nlet s = /[)]x/\nimport M", "#if swift(>=99)\nlet x = (\n#endif\nimport M",
        "let x = [\nimport M",
        "g()\n/\"/\nimport M", "g() /a\\/*/\nimport M", "// hi\rimport M", "#!/bin/sh \"\"\" \rimport M",
        "import\u{0C}M",
        "import\u{0B}M", "import\0M", "let a = (b /c) \" )/\" \nimport M", "return /\"/\nimport M",
        "let a = b /c \"/\" \nimport M", "let a = f(/\"/)\nimport M", "let l = [1, 2, 3,\n4]\nimport M",
        "let s = \"a\rimport M", "let o = (/); import M; let p = (/)", "let x = a /b; import M; let y = c / d",
        "let x = /[)]\"/; import M", "let x = [a:/\"/]\nimport M",
        "let a = \"\"\" \n \\(f(\"\"\"\n)\"\"\"))\n\"\"\"\nimport M",
    ])
    func everyFormOfImportIsParsed(source: String) throws {
        #expect(try modules(source) == ["M"])
    }

    @Test(arguments: [
        "// import M", "/* import M */", "/// import M", "\"import M\"", "\"\"\"\nimport M\n\"\"\"", "f(import: M)",
        "func f(import module: M) {}", "f(\n    import: M)", "a.import\nM", "let `import` = M", "#\"import M\"#",
        "let r = /import M/", "let r = #/\nimport M\n/#",
    ])
    func similarTextIsNotAnImport(source: String) throws {
        #expect(try modules(source) == [])
    }

    @Test func oneLineCanHaveSeveralImports() throws {
        #expect(try modules("import A; public import B;@testable import C") == ["A", "B", "C"])
    }

    @Test func importHasItsAttributes() throws {
        let source = "\n@_spi(S) @testable public import struct M.Deep.S\n@_exported import N"
        let imports = try facts(source).imports
        #expect(imports.map(\.line) == [2, 3])
        #expect(imports.map(\.access) == [.public, nil])
        #expect(imports.map(\.isTestable) == [true, false])
        #expect(imports.map(\.isExported) == [false, true])
        #expect(imports.map(\.text) == ["@_spi(S) @testable public import struct M.Deep.S", "@_exported import N"])
    }

    @Test func attributeCanHaveParentheses() throws {
        let imports = try facts("@testable @_spi(A(b)) public import M").imports
        #expect(imports.map(\.access) == [.public])
        #expect(imports.map(\.isTestable) == [true])
        #expect(imports.map(\.text) == ["@testable @_spi(A(b)) public import M"])
    }

    @Test(arguments: [
        ("#if canImport(A)\n#else\nimport M\n#endif", ["A"]), ("#if !canImport(A)\nimport M\n#endif", ["A"]),
        ("#if canImport(A)\nimport M\n#endif", []), ("#if canImport(A)\n#elseif B\nimport M\n#endif", ["A"]),
        ("#if canImport(A)\n#elseif canImport(B)\n#else\nimport M\n#endif", ["A", "B"]),
        ("#if !canImport(A) && os(Linux)\nimport M\n#endif", ["A"]),
        ("#if !canImport(A) || os(Linux)\nimport M\n#endif", []),
        ("#if canImport(A) || canImport(B)\n#else\nimport M\n#endif", ["A", "B"]),
        ("#if canImport(A) && canImport(B)\n#else\nimport M\n#endif", []),
        ("#if canImport(A, _version: 2)\n#else\nimport M\n#endif", []), ("#if os(Linux)\n#else\nimport M\n#endif", []),
        ("#if canImport(A)\n#else\n#if B\nimport M\n#endif\n#endif", ["A"]),
        ("#if canImport(A)\n#else\n#endif\nimport M", []), ("#if !canImport(A)\n#else\nimport M\n#endif", []),
        ("#if !(canImport(A))\nimport M\n#endif", ["A"]), ("#if (!canImport(A))\nimport M\n#endif", ["A"]),
        ("#if (canImport(A))\n#else\nimport M\n#endif", ["A"]), ("#if !(canImport(A) || X)\nimport M\n#endif", ["A"]),
        ("#if (A) || (!canImport(B))\nimport M\n#endif", []),
        ("#if !canImport(A, _version: 2)\nimport M\n#endif", []),
    ])
    func branchImpliesAbsentModules(source: String, absent: [String]) throws {
        #expect(try facts(source).imports.map(\.absentModules) == [Set(absent)])
    }

    @Test func conditionOnAModuleIsFound() throws {
        let facts = try facts("#if canImport(A) ||\n    !canImport(B.C)\n#endif")
        #expect(facts.questions.map(\.module) == ["A", "B"])
        #expect(facts.questions.map(\.line) == [1, 2])
    }

    @Test(arguments: [
        ("/* open\nimport M", 1, "A comment"), ("\nlet a = \"\"\"\nimport M", 2, "A string"),
        ("let a = #/\nimport M", 1, "A regular expression"),
    ])
    func unclosedCommentOrStringIsAnError(source: String, line: Int, what: String) {
        #expect {
            try facts(source)
        } throws: { error in
            let error = error as? SourceError
            return error?.location.line == line && error?.explanation.hasPrefix(what) == true
        }
    }

    @Test func sourceThatIsNotUTF8IsAnError() {
        #expect(throws: SourceError.self) {
            try SourceFacts(reading: [0x69, 0xFF], path: "A.swift", target: "A", subject: nil)
        }
    }

    /// Any contents can be read to the end, and do not hide the import that precedes them.
    @Test func anySourceCanBeRead() {
        let seed = UInt64.random(in: .min ... .max)
        var generator = SplitMix64(seed: seed)
        let pieces = [
            "\"", "\"\"\"", "#", "/", "*", "/*", "*/", "//", "\\(", "\\", "(", ")", "{", "}", "[", "]", "`", "#if",
            "#else",
            "#endif", "@", ".", "import", "canImport", "struct", "func", "<", ">", "=", ",", ":", "public", "A", "b",
            " ",
            "\n", "\r\n", "é", "\u{0}", "&&", "||", "!", "enum", "case", "extension", "protocol", "where", "->",
        ]
        for _ in 0..<3000 {
            let count = Int.random(in: 0..<40, using: &generator)
            let noise = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            if let facts = try? facts("import M\n;\(noise)") {
                #expect(facts.imports.first?.module == "M", "seed \(seed): \(noise)")
            }
        }
    }
}
