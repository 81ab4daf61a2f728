import Testing

@testable import scaffold_subject

struct ScaffoldTests {
    private let package: TemporaryPackage

    init() throws {
        package = try TemporaryPackage()
    }

    private struct Ending {
        let code: ExitCode
        let output: String
        let errors: String
    }

    private func run(_ arguments: String...) -> Ending {
        var (output, errors) = ("", "")
        let scaffold = Scaffold(printOutput: { output += "\($0)\n" }, printError: { errors += "\($0)\n" })
        let code = scaffold.run(["--package-path", package.path] + arguments)
        return Ending(code: code, output: output, errors: errors)
    }

    @Test func allFilesAreWrittenAndNamed() throws {
        let ending = run("Comment")
        #expect(ending.code == .success)
        #expect(ending.errors.isEmpty)
        let expected = try FileTemplate.all.map { try $0.file(for: SubjectName("Comment")) }
        #expect(package.files == expected.map(\.path).sorted())
        for file in expected {
            #expect(try package.contents(of: file.path) == file.contents)
        }
        let lines = ending.output.split(separator: "\n").map(String.init)
        #expect(lines.dropLast(3) == expected.map(\.path)[...])
        #expect(lines.suffix(3).first?.hasPrefix("Next: swift test --filter Comment") == true)
    }

    @Test func theNextStepTestsAllThatWasWritten() {
        #expect(run("BlogEntry").output.contains("\nNext: swift test --filter 'BlogEntry|BlogEntries', and"))
        #expect(run("Person", "--plural", "People").output.contains("\nNext: swift test --filter 'Person|People', and"))
    }

    @Test func whereAFileIsThereNothingIsWritten() throws {
        let path = "Sources/Rings/Composition/Comments/CommentsContainer.swift"
        try package.write("mine", to: path)
        let ending = run("Comment")
        #expect(ending.code == .failure)
        #expect(package.files == [path])
        #expect(try package.contents(of: path) == "mine")
        #expect(ending.errors == "scaffold-subject: There is \(path) already. Nothing was written.\n")
        #expect(ending.output.isEmpty)
    }

    @Test func aSecondRunChangesNothing() {
        #expect(run("Comment").code == .success)
        let before = package.files
        #expect(run("Comment").code == .failure)
        #expect(package.files == before)
    }

    @Test func whatCannotBeWrittenWholeIsTakenBack() throws {
        // A file where a later file of the subject needs a directory.
        try package.write("", to: "Sources/Testing/UseCasesTesting/Comments")
        let ending = run("Comment")
        #expect(ending.code == .failure)
        #expect(package.files.isEmpty)
        #expect(ending.errors.contains("InMemoryCommentRepository.swift cannot be written"))
    }

    @Test(arguments: [
        ("struct Comment {}", "Comment"), ("public enum CommentError: Error {}", "CommentError"),
        ("protocol  CommentRepository {}", "CommentRepository"),
        ("@frozen public\ntypealias ListComments = Int", "ListComments"),
    ])
    func aNameThatIsTakenIsRefused(declaration: String, name: String) throws {
        try package.write("/// \n\(declaration)\n", to: "Sources/Rings/Entities/Other.swift")
        let ending = run("Comment")
        #expect(ending.code == .usage)
        #expect(package.files == ["Sources/Rings/Entities/Other.swift"])
        let explanation = "scaffold-subject: there is a type \(name) in Sources/Rings/Entities/Other.swift\n"
        #expect(ending.errors.hasPrefix(explanation))
    }

    @Test func whatOnlyResemblesANameIsFree() throws {
        try package.write("struct Comments {}\nstruct BlogComment {}", to: "Sources/Rings/Entities/Other.swift")
        try package.write("struct Comment {}", to: "Tests/Tools/scaffold-subjectTests/Example.swift")
        #expect(run("Comment").code == .success)
    }

    @Test func theNameOfAModuleIsRefused() throws {
        try package.write("", to: "Sources/Rings/Composition/X.swift")
        #expect(run("Composition").code == .usage)
        #expect(package.files == ["Sources/Rings/Composition/X.swift"])
    }

    @Test func withoutATargetNothingIsWritten() throws {
        try package.remove("Sources/Rings/UseCases")
        let ending = run("Comment")
        #expect(ending.code == .failure)
        #expect(package.files.isEmpty)
        #expect(ending.errors.hasPrefix("scaffold-subject: There is no target at Sources/Rings/UseCases, where"))
    }

    @Test func withoutAPackageNothingIsWritten() throws {
        try package.remove("Package.swift")
        #expect(run("Comment").code == .failure)
        #expect(package.files.isEmpty)
    }

    @Test func badUsageIsToldWithTheUsage() {
        #expect(run("comment").code == .usage)
        let ending = run()
        #expect(ending.code == .usage)
        #expect(ending.errors == "scaffold-subject: a name is wanted\n" + Arguments.usage)
        #expect(package.files.isEmpty)
    }

    @Test func helpIsShownAndNothingElseDone() {
        let ending = run("Comment", "--help")
        #expect(ending.code == .success)
        #expect(ending.output == Arguments.usage)
        #expect(package.files.isEmpty)
    }
}
