import Foundation
import LayerContract
import Testing

struct PackageDescriptionTests {
    private let described = """
        {"name": "p", "path": "/p", "targets": [
          {"name": "my-core", "c99name": "my_core", "type": "library", "module_type": "SwiftTarget",
           "path": "Sources/my-core", "sources": ["Users/User.swift", "A.swift"]},
          {"name": "App", "c99name": "App", "type": "executable", "module_type": "SwiftTarget",
           "path": "Sources/App", "sources": []},
          {"name": "CLib", "c99name": "CLib", "type": "library", "module_type": "ClangTarget",
           "path": "Sources/CLib", "sources": ["a.c"]},
          {"name": "Gen", "c99name": "Gen", "type": "plugin", "module_type": "PluginTarget",
           "path": "Plugins/Gen", "sources": []},
          {"name": "M", "c99name": "M", "type": "macro", "module_type": "SwiftTarget", "path": "Sources/M", "sources": []},
          {"name": "T", "c99name": "T", "type": "test", "module_type": "SwiftTarget", "path": "Tests/T", "sources": []},
          {"name": "Demo", "c99name": "Demo", "type": "snippet", "module_type": "SwiftTarget",
           "path": "Snippets", "sources": ["Demo.swift"]}
        ]}
        """
    private let dumped = """
        {"dependencies": [
          {"sourceControl": [{"identity": "swift-wires", "location": {"remote": [{"urlString": "x"}]}}]},
          {"fileSystem": [{"identity": "inward", "path": "/i"}]}],
         "targets": [
          {"name": "my-core", "dependencies": []},
          {"name": "App", "dependencies": [
            {"byName": ["my-core", null]}, {"target": ["CLib", {"platformNames": ["linux"]}]},
            {"byName": ["inward", null]}, {"byName": ["Unknown", null]},
            {"product": ["Wire", "swift-wires", null, {"traits": ["Wires"]}]},
            {"product": ["UseCases", "inward", {"Entities": "InwardEntities"}, null]}],
           "pluginUsages": [{"plugin": ["Gen", null]}, {"plugin": ["Other", "swift-wires"]}]},
          {"name": "CLib", "dependencies": []}, {"name": "Gen", "dependencies": []},
          {"name": "M", "dependencies": []}, {"name": "T", "dependencies": []}
        ]}
        """

    private func package() throws -> PackageDescription {
        try PackageDescription(description: Data(described.utf8), manifest: Data(dumped.utf8))
    }

    @Test func targetsMatchTheOutputOfSwiftPM() throws {
        let package = try package()
        #expect(package.name == "p")
        #expect(package.path == "/p")
        #expect(package.targets.map(\.name) == ["App", "CLib", "Gen", "M", "T", "my-core"])
        #expect(package.targets.map(\.kind) == [.executable, .other, .plugin, .macro, .test, .library])
        let core = try #require(package.targets.last)
        #expect(core.moduleName == "my_core")
        #expect(core.sources == ["Users/User.swift", "A.swift"])
        #expect(core.sources.map(core.subject) == ["Users", nil])
    }

    @Test func dependenciesIncludeConditionalOnes() throws {
        #expect(
            try package().targets.first?.dependencies == [
                .target("my-core"), .target("CLib"), .product("inward", package: "inward", aliases: []),
                .product("Unknown", package: "Unknown", aliases: []),
                .product("Wire", package: "swift-wires", aliases: []),
                .product("UseCases", package: "inward", aliases: ["InwardEntities"]), .target("Gen"),
                .plugin("Other", package: "swift-wires"),
            ]
        )
    }

    @Test(arguments: ["", "[]", "{\"name\": 1}"])
    func unreadableOutputIsAnErrorThatQuotesIt(text: String) {
        let error = #expect(throws: PackageDescriptionError.self) {
            try PackageDescription(description: Data(text.utf8), manifest: Data(dumped.utf8))
        }
        #expect(error?.explanation.contains("It has \(text.utf8.count) bytes and begins with “\(text)”") == true)
        #expect(throws: PackageDescriptionError.self) {
            try PackageDescription(description: Data(described.utf8), manifest: Data(text.utf8))
        }
    }

    @Test func settingsAreReadFromTheManifest() throws {
        let manifest = dumped.replacing(
            "{\"name\": \"CLib\", \"dependencies\": []}",
            with: """
                {"name": "CLib", "dependencies": [], "publicHeadersPath": "inc", "pkgConfig": "lib-2.0",
                 "providers": [{"apt": [["lib-dev"]]}, {"brew": [["lib", "more"]]}], "settings": [
                  {"tool": "linker", "kind": {"linkedLibrary": {"_0": "z"}}, "condition": {"traits": ["Z"]}},
                  {"tool": "linker", "kind": {"linkedFramework": {"_0": "Security"}}},
                  {"tool": "c", "kind": {"unsafeFlags": {"_0": ["-O3", "-g"]}}},
                  {"tool": "cxx", "kind": {"headerSearchPath": {"_0": "more"}}},
                  {"tool": "swift", "kind": {"strictMemorySafety": {}}},
                  {"tool": "swift", "kind": {"defaultIsolation": {"_0": null}}},
                  {"tool": "c", "kind": {"define": {"_0": "Z"}}}]}
                """
        )
        let package = try PackageDescription(description: Data(described.utf8), manifest: Data(manifest.utf8))
        let target = try #require(package.targets.first { $0.name == "CLib" })
        #expect(
            target.settings == [
                BuildSetting(.linkedLibrary("z"), for: .linker, isConditional: true),
                BuildSetting(.linkedFramework("Security"), for: .linker),
                BuildSetting(.unsafeFlags(["-O3", "-g"]), for: .c), BuildSetting(.headerSearchPath("more"), for: .cxx),
            ]
        )
        #expect(target.publicHeaders == "inc")
        #expect(target.libraryNames == ["lib-2.0", "lib-dev", "lib", "more"])
        #expect(target.language == .c)
    }

    /// The target `App` in manifests with different tools versions, language modes and settings.
    @Test(arguments: [
        ("6.2.0", "null", "[]", false), ("6.2.0", "[\"6\"]", "[]", false), ("5.8.0", "null", "[]", false),
        ("5.7.0", "null", "[]", true), ("6.2.0", "[\"5\", \"7\"]", "[]", true), ("7.0.0", "null", "[]", true),
        ("6.2.0", "null", feature(), true), ("6.2.0", "null", feature("Other"), false),
        ("6.2.0", "null", feature(condition: ", \"condition\": {\"config\": \"debug\"}"), false),
        (
            "6.2.0", "null",
            "[{\"tool\": \"swift\", \"kind\": {\"unsafeFlags\": {\"_0\": "
                + "[\"-enable-upcoming-feature\", \"MemberImportVisibility\"]}}}]", true
        ),
        ("7.0.0", "null", "[{\"tool\": \"swift\", \"kind\": {\"swiftLanguageMode\": {\"_0\": \"6\"}}}]", false),
        ("6.2.0", "null", "[{\"tool\": \"swift\", \"kind\": {\"swiftLanguageMode\": {\"_0\": \"7\"}}}]", true),
    ])
    func memberImportsAreCheckedWithTheFeatureOrLanguageMode(
        tools: String,
        modes: String,
        settings: String,
        isChecked: Bool
    ) throws {
        let head = "\"toolsVersion\": {\"_version\": \"\(tools)\"}, \"swiftLanguageVersions\": \(modes),"
        let manifest =
            "{\(head)"
            + dumped.dropFirst().replacing(
                "{\"name\": \"App\",",
                with: "{\"name\": \"App\", \"settings\": \(settings),"
            )
        let package = try PackageDescription(description: Data(described.utf8), manifest: Data(manifest.utf8))
        #expect(package.targets.first { $0.name == "App" }?.checksMemberImports == isChecked)
        // These targets are not compiled as Swift, or import only modules of SwiftPM.
        for name in ["CLib", "Gen"] { #expect(package.targets.first { $0.name == name }?.checksMemberImports == true) }
    }

    private static func feature(_ name: String = "MemberImportVisibility", condition: String = "") -> String {
        "[{\"tool\": \"swift\", \"kind\": {\"enableUpcomingFeature\": {\"_0\": \"\(name)\"}}\(condition)}]"
    }
}
