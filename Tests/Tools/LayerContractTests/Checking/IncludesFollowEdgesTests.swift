import LayerContract
import Testing

struct IncludesFollowEdgesTests {
    /// Returns a sketch in which `CWire` uses `CBase` and the system library `CCurl`, and no target may use `CStray`.
    private func sketch(_ source: String, label: String = "", in file: String = "wire.c") -> Sketch {
        var sketch = Sketch().drawing("CWire[\"CWire\(label)\"] --> CBase").drawing("CWire --> CCurl").drawing("CStray")
        sketch.targets += [
            TargetDescription(
                name: "CWire",
                kind: .other,
                language: .c,
                sources: ["wire.c", "src/other.c"],
                dependencies: [.target("CBase"), .target("CCurl")],
                settings: [BuildSetting(.headerSearchPath("private"), for: .c)]
            ),
            TargetDescription(name: "CBase", kind: .other, language: .c, sources: ["base.c"], publicHeaders: "inc"),
            TargetDescription(name: "CStray", kind: .other, language: .c, sources: ["stray.c"]),
            TargetDescription(
                name: "CCurl",
                kind: .other,
                language: .moduleMap,
                libraryNames: ["gobject-2.0", "libvips-dev", "openssl@3"]
            ),
        ]
        sketch.sources["Sources/CWire/include/CWire.h"] = ""
        sketch.sources["Sources/CWire/private/detail.h"] = ""
        sketch.sources["Sources/CWire/src/near.h"] = ""
        sketch.sources["Sources/CBase/inc/base.h"] = ""
        sketch.sources["Sources/CStray/include/stray.h"] = ""
        sketch.sources["Sources/CStray/secret.h"] = ""
        sketch.sources["Sources/CCurl/module.modulemap"] =
            "module CCurl [system] { header \"shim.h\" header \"/usr/include/deep/thing.h\" link \"tls\" }"
        sketch.sources["Sources/CCurl/shim.h"] = "#include <stdio.h>\n#include <curl/curl.h>"
        sketch.sources["Sources/CWire/\(file)"] = source
        return sketch
    }

    @Test func headerOfATargetWithoutAnArrowIsFound() throws {
        #expect(
            try sketch("\n#include \"stray.h\"").findings() == [
                Finding(
                    rule: .importsFollowEdges,
                    location: SourceLocation(file: "Sources/CWire/wire.c", line: 2),
                    edge: "CWire → CStray",
                    message: "“#include \"stray.h\"” is in CWire, and no arrow leads from CWire to CStray.",
                    remedy: "Remove the import, or draw `CWire --> CStray` in Architecture.md if that is intended."
                )
            ]
        )
    }

    @Test func foreignHeaderIsFound() throws {
        #expect(
            try sketch("#include <archive/archive.h>").findings() == [
                Finding(
                    rule: .importsFollowEdges,
                    location: SourceLocation(file: "Sources/CWire/wire.c", line: 1),
                    edge: "CWire → archive",
                    message: "“#include <archive/archive.h>” is in CWire, and the ring CWire does not allow headers of "
                        + "archive.",
                    remedy:
                        "Move the code to a ring that may use it, or add archive to “imports:” of CWire in Architecture.md "
                        + "if that is intended. Targets that depend on a system library may include its headers."
                )
            ]
        )
    }

    @Test(arguments: [
        ("#include \"../CStray/secret.h\"", "CStray"), ("#import <stray.h>", "CStray"), ("@import CStray;", "CStray"),
        ("#pragma clang module import CStray", "CStray"), ("_Pragma(\"clang module import CStray\")", "CStray"),
        ("#import \"Adapters-Swift.h\"", "Adapters"), ("#import <Core/Core-Swift.h>", "Core"),
        ("@import Foundation;", "Foundation"), ("#import <Foundation/Foundation.h>", "Foundation"),
        ("#import <objc/runtime.h>", "ObjectiveC"), ("#include \"sqlite3.h\"", "sqlite3"),
        ("#include <unistd.h>", "Glibc"),
        ("#include <sys/socket.h>", "Glibc"), ("@import Darwin.POSIX;", "Glibc"),
        ("#include <../include/zlib.h>", ".."),
        ("#include HEADER", "HEADER"), ("#include \"near.h\"", "near"), ("%: include_next <zlib.h>", "zlib"),
        ("#inc\\\nlude <zlib.h>", "zlib"), ("/* a */ # /* b */ include /* c */ <zlib.h>", "zlib"),
        ("#if 0\n#include <zlib.h>\n#endif", "zlib"), ("char *s = \"/*\";\n#include <zlib.h>\n// */", "zlib"),
        ("int i = 1'000;\n#include <zlib.h>", "zlib"), ("char c = '\"';\n#include <zlib.h>", "zlib"),
        ("#include \"/usr/include/zlib.h\"", "usr"), ("#include <a//b.h>", "a"),
        ("char *FOOR = FOOR\"(\";\n#include <zlib.h>\nchar *s = \")\";", "zlib"),
    ])
    func everyFormOfIncludeIsChecked(source: String, used: String) throws {
        #expect(try sketch(source).findings().map(\.edge) == ["CWire → \(used)"])
    }

    @Test(arguments: [
        "#include \"CWire.h\"", "#include <CWire.h>", "#include \"include/CWire.h\"", "#include \"detail.h\"",
        "#include \"src/near.h\"", "#include \"src/../src/./near.h\"", "@import CWire;", "#include <stdio.h>",
        "#include <vector>", "#include <immintrin.h>", "#include <TargetConditionals.h>", "#include \"base.h\"",
        "@import CBase;", "#include \"../CBase/inc/base.h\"", "#include <curl/curl.h>", "#include <curl/multi.h>",
        "#include <vips/vips.h>", "#include <gobject/gobject.h>", "#include <openssl/ssl.h>", "#include <deep/thing.h>",
        "#include <thing.h>", "#include <tls.h>", "// #include <zlib.h>", "/*\n#include <zlib.h>\n*/",
        "char *s = \"\\\n#include <zlib.h>\";", "char *s = R\"x(\n#include <zlib.h>\n)x\";", "// \\\n#include <zlib.h>",
        "#define include", "#pragma once", "int import = 1;",
    ])
    func allowedIncludesAndSimilarTextPass(source: String) throws {
        #expect(try sketch(source).findings() == [])
    }

    @Test(arguments: [
        ("#include <unistd.h>", "Glibc else Musl"), ("#include <mach/mach.h>", "Darwin"), ("@import Darwin;", "Musl"),
        ("#include <dispatch/dispatch.h>", "Dispatch"), ("#import <Foundation/Foundation.h>", "Foundation"),
        ("#include <sqlite3.h>", "sqlite3"), ("#include <archive/archive.h>", "archive"),
    ])
    func allowedModuleMayBeIncludedAndCountsAsUsed(source: String, modules: String) throws {
        let label = "<br/>imports: \(modules)"
        #expect(try sketch(source, label: label).findings() == [])
        #expect(try sketch("", label: label).findings().map(\.rule).contains(.diagramIsUsed))
    }

    @Test func headerOfATargetNeedsADependency() throws {
        var sketch = sketch("#include \"base.h\"\n#include <curl/curl.h>")
        sketch.targets[5].dependencies = []
        let findings = try sketch.findings().filter { $0.rule == .importsFollowEdges }
        #expect(
            findings.map(\.message) == [
                "“#include \"base.h\"” is in CWire, which does not declare the dependency.",
                "“#include <curl/curl.h>” is in CWire, which does not declare the dependency.",
            ]
        )
    }

    @Test func headerOfADeclaredProductIsAllowed() throws {
        var sketch = sketch(
            "#include <Wire/Wire.h>\n#include \"CAtomics.h\"",
            label: "<br/>packages: wires (Wire, CAtomics)"
        )
        .declaring(.product("Wires", package: "wires", aliases: []), in: "CWire")
        #expect(try sketch.findings() == [])
        sketch.sources["Sources/CWire/wire.c"]? += "\n#include <Other/Other.h>"
        #expect(try sketch.findings().map(\.edge) == ["CWire → Other"])
    }

    @Test func onlyIncludedHeadersAreFollowed() throws {
        var sketch = sketch("#include <zlib.h>", in: "private/detail.h")
        #expect(try sketch.findings() == [])
        sketch.sources["Sources/CWire/src/other.c"] = "#include \"near.h\""
        sketch.sources["Sources/CWire/src/near.h"] = "#include <detail.h>"
        #expect(try sketch.findings().map(\.location.file) == ["Sources/CWire/private/detail.h"])
        // Other targets may import the public headers and module maps, so these are always checked.
        #expect(try self.sketch("#include <zlib.h>", in: "include/CWire.h").findings().count == 1)
        let map = "module CWire { header \"/usr/include/zlib.h\" }"
        #expect(try self.sketch(map, in: "include/module.modulemap").findings().map(\.edge) == ["CWire → usr"])
    }
}
