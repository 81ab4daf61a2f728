import LayerContract
import Testing

struct NoBackDoorsTests {
    private let core = "Sources/Core/Users/User.swift"
    private let adapters = "Sources/Adapters/Users/UserRow.swift"

    @Test func callIsFoundAtItsLine() throws {
        #expect(
            try Sketch().with("\nlet a = dlsym(nil, \"open\")", in: core).findings() == [
                Finding(
                    rule: .noBackDoors,
                    location: SourceLocation(file: core, line: 2),
                    edge: "Core → dlsym",
                    message: "“dlsym” is in Core, and the ring Core may not import a platform's C library.",
                    remedy:
                        "Move the code to a ring that may use it, behind a protocol, or add Glibc else Musl else Darwin "
                        + "to “imports:” of Core in Architecture.md if that is intended."
                )
            ]
        )
    }

    @Test(arguments: [
        ("let a = NSClassFromString(\"App.App\")", "NSClassFromString"), ("let a = `dlopen`(nil, 0)", "dlopen"),
        ("let a = Glibc.dlopen(nil, 0)", "dlopen"), ("@_silgen_name(\"f\") func f()", "@_silgen_name"),
        ("@_extern(c) func f()", "@_extern"), ("@ _cdecl(\"f\") func f() {}", "@_cdecl"), ("@c func f() {}", "@c"),
        ("let a = _typeByName(\"3App\")", "_typeByName"), ("#if DEBUG\nlet a = dlopen\n#endif", "dlopen"),
        ("let a = \"\\(dlopen(nil, 0))\"", "dlopen"),
    ])
    func everyBackDoorIsFound(line: String, text: String) throws {
        let findings = try Sketch().with(line, in: core).findings()
        #expect(findings.map(\.rule) == [.noBackDoors])
        #expect(findings.first?.message.contains("“\(text)” is in Core") == true)
    }

    @Test(arguments: [
        "// dlopen", "let a = \"dlopen\"", "let a = dlopenCount", "let _silgen_name = 1", "let c = 1",
        "/* NSClassFromString */",
    ])
    func similarTextIsNotABackDoor(line: String) throws {
        #expect(try Sketch().with(line, in: core).findings() == [])
    }

    @Test func ringThatMayImportTheModuleMayUseTheBackDoor() throws {
        // `Adapters` may import Foundation, which does not let it call the platform's C library.
        #expect(try Sketch().with("let a = NSClassFromString(\"A\")", in: adapters).findings() == [])
        #expect(try Sketch().with("let a = dlopen(nil, 0)", in: adapters).findings().map(\.rule) == [.noBackDoors])
        var sketch = Sketch().with("import Darwin\nlet a = dlopen(nil, 0)", in: adapters)
        sketch.diagram = sketch.diagram.replacing("imports: ", with: "imports: Darwin, ")
        #expect(try sketch.findings() == [])
    }

    @Test func noRingMayDeclareASymbol() throws {
        let findings = try Sketch().with("@_silgen_name(\"f\") func f()", in: adapters).findings()
        #expect(
            findings.map(\.message) == [
                "“@_silgen_name” is in Adapters, and it reaches other code without an import, which no ring may do."
            ]
        )
    }

    @Test func cSourcesAreCheckedToo() throws {
        var sketch = Sketch().drawing("CWire")
        sketch.targets.append(TargetDescription(name: "CWire", kind: .other, language: .c, sources: ["wire.c"]))
        sketch.sources["Sources/CWire/wire.c"] = "// dlopen\nvoid *dlopen(const char *, int); // \"dlsym\"\n"
        #expect(try sketch.findings().map(\.edge) == ["CWire → dlopen"])
    }
}
