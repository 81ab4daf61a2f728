import LayerContract
import Testing

struct NoCycleOfSubjectsTests {
    private func findings(_ sources: [String: String]) throws -> [Finding] {
        var sketch = Sketch()
        for (path, text) in sources { sketch.sources["Sources/Core/\(path)"] = text }
        return try sketch.findings()
    }

    @Test func cycleOfTwoIsReportedAtTheFewestUses() throws {
        let found = try findings([
            "Posts/Post.swift": "\npublic struct Post { let author: User }",
            "Posts/Feed.swift": "struct Feed { let reader: User }",
            "Users/Profile.swift": "\n\nstruct Profile { let latest: Post }",
        ])
        #expect(
            found == [
                Finding(
                    rule: .noCycleOfSubjects,
                    location: SourceLocation(file: "Sources/Core/Users/Profile.swift", line: 3),
                    edge: "Core/Users → Core/Posts",
                    message: "The folders of Core use each other in a cycle: Posts → Users (User in "
                        + "Sources/Core/Posts/Feed.swift:1), Users → Posts (Post in Sources/Core/Users/Profile.swift:3).",
                    remedy: "Move what both need into a folder of its own, or move Post to the folder that uses it."
                )
            ]
        )
    }

    @Test func cycleOfThreeIsFound() throws {
        let found = try findings([
            "A/A.swift": "struct A { let b: B }", "B/B.swift": "struct B { let c: C }",
            "C/C.swift": "struct C { let a: A }",
        ])
        #expect(found.map(\.message).first?.contains("A → B") == true)
        #expect(found.count == 1)
    }

    @Test(arguments: [
        "let d: Helper.Draft", "let d = Helper.Draft.self",
        "let a = 1...\nextension Helper {}", "extension Helper {}", "let a = Core.Helper()",
        "let a: [Helper] = []", "func f(_: some P<Helper>) {}", "let a = \"\\(Helper())\"", "let a = b as? Helper",
    ])
    func everyFormOfUseCounts(line: String) throws {
        let found = try findings([
            "A/A.swift": "struct A {}\n\(line)",
            "B/Helper.swift":
                "struct Helper { let a: A }\nfunc helper() -> Int { 1 }\nextension Helper { struct Draft {} }",
        ])
        #expect(found.map(\.rule) == [.noCycleOfSubjects])
    }

    @Test(arguments: [
        "// Helper", "let a = \"Helper\"", "struct Helper {}", "let a = x.Helper", "let a = 1.count",
        "func g<Helper>() {}",
        "let a = f(helper: 1)", "func f() -> Int { helper() }", "let a = f(Helper: 1)", "enum K { case Helper(Int) }",
        "import Helper", "#if canImport(Helper)\n#endif", "let d: String.Draft", "let d: Draft", "func helper() {}",
        "struct S { func helper() {}; func f() { helper() } }",
        "func f(helper: () -> Void) { helper() }", "let a = x.helper()", "let a = \"\".spoken", "let spoken = 1",
        "enum E { case spoken }\nlet a = E.spoken",
    ])
    func ambiguousMentionDoesNotCount(line: String) throws {
        let found = try findings([
            "A/A.swift": "struct A {}\n\(line)",
            "B/Helper.swift":
                "struct Helper { let a: A }\nfunc helper() -> Int { 1 }\nextension Int { var spoken: String { \"\" } }\nextension Int { var count: Int { 1 } }",
        ])
        #expect(found.filter { $0.rule == .noCycleOfSubjects } == [])
    }

    @Test func genericParameterShadowsANameOnlyInItsFile() throws {
        let b = ["B/B.swift": "struct B { let a: A }"]
        #expect(try findings(b.merging(["A/A.swift": "struct A {}\nstruct G<B> { let b: B }"]) { $1 }) == [])
        let other = ["A/A.swift": "struct A { let b: B }", "A/G.swift": "struct G<B> { let b: B }"]
        #expect(try findings(b.merging(other) { $1 }).count == 1)
    }

    /// Sources of `A` that mention a type, and declare another type with the same name.
    @Test(arguments: [
        "struct A { let b: B }\nenum Other { struct B {} }", "struct A { let b: B }\nextension Other { struct B {} }",
        "struct A { let b: B }\nfunc f() { struct B {} }", "struct A { let b: B }\nenum E { typealias B = Int }",
        "struct A { struct C { struct B {} }\n let b: B }", "struct A { func f() { struct B {} }\n let b: B }",
        "struct A: P { let b: B }\nstruct C: Q {}\nprotocol Q { associatedtype X }\nextension Q { typealias B = Int }",
        "struct A: B { struct B {} }", "struct A<T: Q> { let b: B }\nextension Q { typealias B = Int }",
        "extension Outer.A { func f() -> B? { nil } }\nextension Outer.C { struct B {} }\nstruct A {}",
    ])
    func typeOfTheSameNameOutOfScopeHidesNothing(source: String) throws {
        #expect(try findings(["A/A.swift": source, "B/B.swift": "struct B { let a: A }"]).count == 1)
    }

    @Test(arguments: [
        "struct A { struct B {}\n let b: B }", "struct A { let b: B\n typealias B = Int }",
        "struct A { let b: B }\nextension A { struct B {} }", "struct A { struct C { let b: B }\n struct B {} }",
        "struct A { func f() { struct B {}\n _ = B() } }", "struct A { func f() { if x { _ = B() }\n struct B {} } }",
        "struct A {}\nprivate struct B {}\nlet b: B", "struct A {}\nfileprivate typealias B = Int\nlet b: B",
        "struct A {}\nextension Core.A { struct B {} }\nextension A { func f() -> B? { nil } }",
        "struct A: Q { let b: B }\nextension Q { typealias B = Int }",
        "class A: C { let b: B }\nclass C { struct B {} }",
        "class A: C { let b: B }\nclass C: D {}\nclass D { struct B {} }",
        "struct A: Q { let b: B }\nprotocol Q { associatedtype B }",
        "extension Outer.A { func f() -> B? { nil } }\nextension Outer { struct B {} }\nstruct A {}",
    ])
    func typeOfTheSameNameInScopeHidesTheOther(source: String) throws {
        #expect(try findings(["A/A.swift": source, "B/B.swift": "struct B { let a: A }"]) == [])
    }

    @Test func nestedTypeShadowsTheOtherInAllFiles() throws {
        let sources = ["A/A.swift": "struct A { let b: B }", "B/B.swift": "struct B { let a: A }"]
        let same = sources.merging(["A/A+B.swift": "extension A { struct B {} }"]) { $1 }
        #expect(try findings(same) == [])
        let other = sources.merging(["A/C.swift": "struct C { struct B {} }"]) { $1 }
        #expect(try findings(other).count == 1)
        let hidden = sources.merging(["A/C.swift": "private struct B {}"]) { $1 }
        #expect(try findings(hidden).count == 1)
    }

    @Test func nameDeclaredInSeveralFoldersIsIgnored() throws {
        let found = try findings([
            "A/A.swift": "struct A { let e: Failure }", "B/B.swift": "struct Failure { let a: A }",
            "C/C.swift": "private struct X {}\nstruct Failure {}",
        ])
        #expect(found == [])
    }

    @Test func everyStepThatMustBeRemovedIsReported() throws {
        let known = ["A/A.swift": "struct A { let b: B }", "B/B.swift": "struct B { let a: A }"]
        #expect(try findings(known).map(\.edge) == ["Core/A → Core/B"])
        let worse = try findings(
            known.merging(["A/A2.swift": "struct A2 { let c: C }", "C/C.swift": "struct C { let a: A2 }"]) { $1 }
        )
        #expect(worse.map(\.edge) == ["Core/A → Core/B", "Core/A → Core/C"])
    }

    @Test func folderThatUsesItselfIsNotACycle() throws {
        #expect(try findings(["A/A.swift": "struct A { let b: B }", "A/B.swift": "struct B { let a: [A] }"]) == [])
    }

    @Test func filesOutsideOfFoldersAreIgnored() throws {
        #expect(
            try findings(["Root.swift": "struct Root { let a: A }", "A/A.swift": "struct A { let r: Root }"]) == []
        )
    }

    @Test func testFoldersMayUseEachOther() throws {
        var sketch = Sketch()
        sketch.sources["Tests/AdaptersTests/A/A.swift"] = "import Support\nstruct A { let b: B }"
        sketch.sources["Tests/AdaptersTests/B/B.swift"] = "struct B { let a: A }"
        #expect(try sketch.findings() == [])
    }
}
