import LayerContract
import Testing

struct NothingIsReexportedTests {
    private let file = "Sources/Adapters/Other.swift"

    private func findings(_ source: String) throws -> [Finding] {
        var sketch = Sketch()
        sketch.sources[file] = source
        return try sketch.findings()
    }

    @Test(arguments: ["@_exported import Core", "@_exported public import Core", "@_exported import struct Core.User"])
    func exportedImportIsFound(line: String) throws {
        #expect(
            try findings("\(line)\npublic struct Row { public let user: User }") == [
                Finding(
                    rule: .nothingIsReexported,
                    location: SourceLocation(file: file, line: 1),
                    edge: "Adapters → Core",
                    message: "“\(line)” exposes Core to everything that imports Adapters.",
                    remedy: "Remove @_exported. Targets that use Core must import it and declare the dependency."
                )
            ]
        )
    }

    @Test func publicImportThatIsNotExposedIsFound() throws {
        #expect(
            try findings("public import Core\npublic struct Row { let user: User }") == [
                Finding(
                    rule: .nothingIsReexported,
                    location: SourceLocation(file: file, line: 1),
                    edge: "Adapters → Core",
                    message:
                        "“public import Core” is public, but no public declaration of the file exposes a type of Core.",
                    remedy: "Write `import Core`, or `internal import` where imports are public by default."
                )
            ]
        )
    }

    @Test(arguments: [
        "public func f(_ user: User) {}", "public func f() -> [User] { [] }", "public func f() async throws(User) {}",
        "public struct S { public var user: User? }", "public struct S: P<User> {}",
        "public class C { open func f(_: User) {} }",
        "public struct S<U> where U == User {}", "public typealias Users = [User]", "public let user = User()",
        "public let user = makeUser()", "public enum E { case one(User) }", "public protocol P { func f(_: User) }",
        "public extension User { var a: Int { 1 } }", "extension User { public var a: Int { 1 } }",
        "extension User: P {}", "extension S: P<User> {}", "@inlinable public func f() { _ = User() }",
        "@usableFromInline func f(_: User) {}", "@usableFromInline\ninternal let u: User",
        "@frozen public struct S { private let user: User }",
        "public struct S { public init(\n  a: Int,\n  b: User\n) {} }",
        "public subscript(_: Int) -> User { f() }", "public var f:\n    (User) -> Void = { _ in }",
        "public func f()\n    -> User { g() }", "public struct S { public private(set) var user: User }",
        "public actor A { public func f(_: User) {} }",
        "public struct S { @Wrapped public static var user: User { f() } }",
        "public protocol P where A == User {}", "extension S where A == User { public func f() {} }",
        "public func f<U: Sequence<User>>(_: U) {}", "public struct S { public var a: Int, b: User }",
        "public protocol P { associatedtype A: User }", "public protocol P { associatedtype A = User }",
        "public let all = [makeUser()]", "public let all = { makeUser() }()", "public let all = (makeUser())",
        "public let a = 3.users", "public let a = Bool.random() ? makeUser() : nil", "public let a = 1, b = makeUser()",
        "public let (a, b) = (makeUser(), 1)", "public func f(a: Int = helper()) {}",
        "public func f(a: Int = limit) {}",
        "public func f(a: Int = 2.doubled) {}", "public func f(a: Level = .standard) {}",
        "public enum E { case one(Int = limit) }",
        "@inlinable public func f() { helper() }", "public var a: Int { @inlinable get { helper() } }",
        "@usableFromInline protocol P: User {}", "@usableFromInline enum E { case one(User) }",
        "extension [User] { public func f() {} }",
        "public func f() ->\n    User { g() }", "public macro m(_: User) = #externalMacro(module: \"M\", type: \"T\")",
        "@User public struct S {}",
        "public func f(a: Int = 1 + limit) {}", "public func f(a: Int = -limit) {}",
        "public func f(a: Int = (limit)) {}",
        "public func f(a: [Int] = [limit]) {}", "public func f(a: Int = 1 <+> 2) {}",
        "public func f(a: String = \"\\(limit)\") {}",
        "public func f(a: () -> Int = { limit }) {}", "public let a: Int = 1, b = makeUser()", "public let a = 1 <+> 2",
        "public var a: Int { get { 1 } @inlinable set { helper() } }", "@inlinable func f() -> Int { limit }",
        "public struct S { @User public var a: Int { 1 } }",
    ])
    func publicImportThatIsExposedPasses(declaration: String) throws {
        #expect(try findings("public import Core\n\(declaration)") == [])
    }

    @Test(arguments: [
        "func f(_ user: User) {}", "struct S { public var user: User }", "public struct S { var user: User }",
        "public func f() { _ = User() }", "public var a: Int { User().a }", "extension User { var a: Int { 1 } }",
        "public struct S { private let user: User; public let a: Int }", "internal extension User { var a: Int { 1 } }",
        "public func f() -> Int {\n    let user: User = g()\n    return user.a\n}", "// public let user: User",
        "public let name = \"User\"", "public enum E { case one; func f(_: User) {} }",
        "public struct S { public init() {}\n func f(_: User) {} }", "package func f(_: User) {}",
        "protocol P { func f(_: User) }",
        "public func f(a: Int = 1, b: String = \"\", c: Bool = true, d: Int? = nil) {}",
        "public let a = 1", "public let a: Int = makeUser().a", "public func f<T>(_: T) where T == Int {}",
        "private extension User { func f() {} }", "public struct S {}\nextension S { func f(_: User) {} }",
    ])
    func publicImportThatIsUsedOnlyInternallyIsFound(declaration: String) throws {
        #expect(try findings("public import Core\n\(declaration)").map(\.rule) == [.nothingIsReexported])
    }

    @Test func packageImportMustAppearInThePackageInterface() throws {
        #expect(try findings("package import Core\npackage func f(_: User) {}") == [])
        #expect(try findings("package import Core\npublic func f(_: User) {}") == [])
        #expect(try findings("package import Core\nfunc f(_: User) {}").map(\.rule) == [.nothingIsReexported])
    }

    @Test func systemModuleIsNeededForTypesThatNoKnownModuleDeclares() throws {
        let line = "public import Synchronization\n"
        #expect(try findings("\(line)public struct S { public let m: Mutex<Int> }") == [])
        #expect(
            try findings("\(line)public struct S<T: Sendable>: Hashable { public let a: [T] }").map(\.rule)
                == [.nothingIsReexported]
        )
        #expect(try findings("\(line)struct S { let m: Mutex<Int> }").map(\.rule) == [.nothingIsReexported])
        #expect(
            try findings("\(line)public import Core\npublic func f(_: User) -> UserRow {}").map(\.edge)
                == ["Adapters → Synchronization"]
        )
    }

    @Test(arguments: [
        "public typealias User = Core.User", "public typealias Account = User", "package typealias U = User",
    ])
    func aliasOfATypeOfAnotherRingIsFound(line: String) throws {
        let findings = try findings("public import Core\n\(line)")
        #expect(findings.map(\.rule).contains(.nothingIsReexported))
        #expect(findings.map(\.location.line).contains(2))
    }

    @Test func unknownTypeCountsAsATypeOfAForeignModule() throws {
        let line = "public import Synchronization\n"
        #expect(try findings("\(line)public func f(_: timespec) {}") == [])
        #expect(try findings("\(line)public func f(_: Span<Int>) {}") == [])
        #expect(try findings("\(line)public func f(_ a: Int, _ b: String) {}").map(\.rule) == [.nothingIsReexported])
        #expect(
            try findings("\(line)@discardableResult public func f() -> Int { 1 }").map(\.rule) == [.nothingIsReexported]
        )
    }

    @Test(arguments: [
        "public enum E { case a(timespec) }", "public func f() -> (timespec, Int) { g() }",
        "public func f(_: (Int, pid_t)) {}",
        "public func f(_ g: (stat) -> Void) {}", "public struct S: Sendable, lower {}", "public func f(_: [pid_t]) {}",
    ])
    func typeNameCanBeginWithALowercaseLetter(declaration: String) throws {
        #expect(try findings("public import Synchronization\n\(declaration)") == [])
    }

    @Test func packageDeclarationNeedsOnlyAPackageImport() throws {
        let findings = try findings("public import Core\npackage func f(_: User) {}")
        #expect(findings.map(\.remedy) == ["Write `package import Core`."])
    }

    @Test func publicImportOfACTargetPasses() throws {
        var sketch = Sketch().declaring(.target("CLib"), in: "Adapters").drawing("Adapters --> CLib")
        sketch.targets.append(TargetDescription(name: "CLib", kind: .other))
        sketch.sources[file] = "public import CLib\npublic func f(_ a: Int) {}"
        #expect(try sketch.findings() == [])
    }

    @Test func aliasOfATypeInTheSameRingPasses() throws {
        var sketch = Sketch().declaring(.target("Core2"), in: "Core").drawing("Core[\"targets: Core, Core2\"]")
            .drawing("Core --> Core")
        sketch.targets.append(TargetDescription(name: "Core2"))
        sketch.sources["Sources/Core2/A.swift"] = "public struct Money {}"
        sketch.sources["Sources/Core/A.swift"] = "public import Core2\npublic typealias Price = Money"
        #expect(try sketch.findings() == [])
    }

    @Test(arguments: ["typealias Account = User", "public typealias Users = [User]", "public typealias Row = UserRow"])
    func otherAliasesPass(line: String) throws {
        #expect(try findings("import Core\n\(line)") == [])
    }
}
