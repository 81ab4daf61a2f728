import Testing

@testable import scaffold_subject

struct ScaffoldTests {
    private let package: TemporaryPackage

    init() throws {
        package = try TemporaryPackage(.example())
    }

    private struct Ending {
        let code: ExitCode
        let output: String
        let errors: String
    }

    private func run(_ arguments: String..., in other: TemporaryPackage? = nil) -> Ending {
        let package = other ?? package
        var (output, errors) = ("", "")
        let scaffold = Scaffold(printOutput: { output += "\($0)\n" }, printError: { errors += "\($0)\n" })
        let code = scaffold.run(["--package-path", package.path, "--target-list", package.targetList] + arguments)
        return Ending(code: code, output: output, errors: errors)
    }

    private func expected(_ name: String) throws -> [ScaffoldedFile] {
        FileTemplate.files(
            of: try SubjectName(name),
            FileTemplate.Variants(adapterTypes: [], compositionTypes: []),
            in: try SubjectTargets(names: [:], diagram: nil, among: package.targets)
        )
    }

    @Test func allFilesAreWrittenAndListed() throws {
        let ending = run("Comment")
        #expect(ending.code == .success)
        #expect(ending.errors.isEmpty)
        let expected = try expected("Comment")
        #expect(package.files == expected.map(\.path).sorted())
        for file in expected {
            #expect(try package.contents(of: file.path) == file.contents)
        }
        let lines = ending.output.split(separator: "\n").map(String.init)
        #expect(lines.dropLast(4) == expected.map(\.path)[...])
        #expect(lines.suffix(4).first == "Next: swift test --filter Comment")
        #expect(
            lines.suffix(2).first == """
                Add AnyEndpoint(.comments) to the endpoints of the AppScope, and create a CommentsContainer in a SessionScope.
                """
        )
    }

    @Test func nextStepTestsTheWholeSubject() {
        #expect(run("BlogEntry").output.contains("\nNext: swift test --filter 'BlogEntry|BlogEntries'\n"))
        #expect(run("Person", "--plural", "People").output.contains("\nNext: swift test --filter 'Person|People'\n"))
    }

    @Test func containersAndDocumentsOfThePackageAreUsed() throws {
        try package.write(
            "struct Document {}\nstruct FailureViewModel {}\nprotocol ViewModel {}",
            to: "Sources/Rings/InterfaceAdapters/Presentation/All.swift"
        )
        try package.write(
            """
            public struct AppConfiguration {}
            public struct AppContainer {}
            public struct UserContainer {}
            public protocol FeatureContainer {}
            public protocol InteractionContainer {}
            """,
            to: "Sources/Rings/Composition/All.swift"
        )
        let ending = run("Comment")
        #expect(ending.output.contains(" the AppContainer, and create a CommentsContainer in a UserContainer.\n"))
        let container = try package.contents(of: "Sources/Rings/Composition/CommentsContainer.swift")
        #expect(container.contains("public struct CommentsContainer: FeatureContainer {"))
        let presenter = try package.contents(
            of: "Sources/Rings/InterfaceAdapters/Comments/CommentListPresenter.swift"
        )
        #expect(presenter.contains("public struct CommentListViewModel: ViewModel, Hashable {"))
    }

    @Test func serviceMayHaveItsOwnNamesAndPaths() throws {
        let names: [TargetRole: String] = [
            .entities: "ShopEntities", .useCases: "ShopUseCases", .adapters: "ShopAdapters", .composition: "Shop",
        ]
        let service = try TemporaryPackage(.example(named: { names[$0] }, in: "Modules", testsIn: "Checks"))
        try service.write(
            "```mermaid\nflowchart LR\nShopAdapters --> ShopUseCases\nShopUseCases --> ShopEntities\n```\n",
            to: "Architecture.md"
        )
        let ending = run("Order", "--target", "composition=Shop", in: service)
        #expect(ending.errors.isEmpty)
        #expect(service.files.contains("Modules/ShopEntities/Order.swift"))
        #expect(service.files.contains("Modules/Shop/OrdersContainer.swift"))
        #expect(service.files.contains("Checks/ShopUseCasesTests/Orders/InMemoryOrderRepository.swift"))
        #expect(service.files.count == 16)
    }

    @Test func existingFileIsKeptAndNothingIsWritten() throws {
        let path = "Sources/Rings/Composition/CommentsContainer.swift"
        try package.write("mine", to: path)
        let ending = run("Comment")
        #expect(ending.code == .failure)
        #expect(package.files == [path])
        #expect(try package.contents(of: path) == "mine")
        let explanation = "These files already exist: \(path). Choose another name, or move the files."
        #expect(ending.errors == "scaffold-subject: \(explanation) Nothing was written.\n")
        #expect(ending.output.isEmpty)
    }

    @Test func secondRunChangesNothing() {
        #expect(run("Comment").code == .success)
        let before = package.files
        #expect(run("Comment").code == .failure)
        #expect(package.files == before)
    }

    @Test func noFileRemainsIfOneCannotBeWritten() throws {
        // A file at the path of a folder that the subject needs.
        try package.write("", to: "Sources/Rings/InterfaceAdapters/Comments")
        let before = package.paths
        let ending = run("Comment")
        #expect(ending.code == .failure)
        #expect(package.paths == before)
        #expect(ending.errors.contains("CommentDTO.swift cannot be written"))
    }

    @Test func createdFoldersAreRemovedAfterAFailure() throws {
        let files = try expected("Comment")
        let last = ScaffoldedFile(target: files[0].target, path: "Sources/Nowhere/Else/X.swift", contents: "")
        let before = package.paths
        #expect(throws: ScaffoldError.self) { try PackageDirectory(path: package.path).write(files + [last]) }
        #expect(package.paths == before)
    }

    @Test(arguments: [
        ("struct Comment {}", "Comment"), ("public enum CommentError: Error {}", "CommentError"),
        ("protocol  CommentRepository {}", "CommentRepository"),
        ("public enum ListCommentsError {}", "ListCommentsError"),
        ("@frozen public\ntypealias ListComments = Int", "ListComments"),
    ])
    func takenNamesAreRefused(declaration: String, name: String) throws {
        try package.write("/// \n\(declaration)\n", to: "Sources/Rings/Entities/Other.swift")
        let ending = run("Comment")
        #expect(ending.code == .failure)
        #expect(package.files == ["Sources/Rings/Entities/Other.swift"])
        let explanation = "The name \(name) is taken by a type in Sources/Rings/Entities/Other.swift."
        #expect(ending.errors.hasPrefix("scaffold-subject: \(explanation) Choose another name. Nothing was written."))
    }

    @Test func namesOfImportedTypesAreRefused() throws {
        let library = try TemporaryPackage([PackageTarget("InwardRepositories", in: "Sources/InwardRepositories")])
        try library.write("public struct Upstream {}", to: "Sources/InwardRepositories/Upstream.swift")
        let foreign = PackageTarget("InwardRepositories", in: library.path + "/Sources/InwardRepositories")
        let service = try TemporaryPackage(.example() + [foreign])
        let ending = run("Upstream", in: service)
        #expect(ending.errors.contains("The name Upstream is taken by a type in \(library.path)"))
        #expect(service.files.isEmpty)
    }

    @Test func similarNamesAreAllowed() throws {
        try package.write("struct Comments {}\nstruct BlogComment {}", to: "Sources/Rings/Entities/Other.swift")
        try package.write("struct Comment {}", to: "Tests/Elsewhere/Example.swift")
        #expect(run("Comment").code == .success)
    }

    @Test func moduleNameIsRefused() {
        let ending = run("Composition")
        #expect(ending.code == .failure)
        #expect(ending.errors.contains("Composition is the name of a module. Choose another name."))
        #expect(package.files.isEmpty)
    }

    @Test func nothingIsWrittenWithoutATarget() throws {
        let service = try TemporaryPackage(package.targets.filter { $0.name != "UseCases" })
        let ending = run("Comment", in: service)
        #expect(ending.code == .failure)
        #expect(service.files.isEmpty)
        #expect(ending.errors.hasPrefix("scaffold-subject: The package has no target “UseCases” for the use cases"))
    }

    @Test func nothingIsWrittenWithoutADirectory() throws {
        try package.remove("Sources/Rings/UseCases")
        let ending = run("Comment")
        #expect(ending.code == .failure)
        #expect(package.files.isEmpty)
        #expect(
            ending.errors == """
                scaffold-subject: The directories of these targets do not exist: UseCases at “Sources/Rings/UseCases”. Create \
                them first. Nothing was written.

                """
        )
    }

    @Test func nothingIsWrittenWithoutADependency() throws {
        let targets = package.targets.map { target in
            target.name == "InterfaceAdapters"
                ? PackageTarget(target.name, in: target.directory, ["Entities", "InwardCore"]) : target
        }
        let service = try TemporaryPackage(targets)
        let ending = run("Comment", in: service)
        #expect(ending.code == .failure)
        #expect(service.files.isEmpty)
        #expect(ending.errors.contains(": InterfaceAdapters → InwardRepositories, UseCases. Nothing was written."))
    }

    @Test func nothingIsWrittenWithoutAPackage() throws {
        try package.remove("Package.swift")
        #expect(run("Comment").code == .failure)
        #expect(package.files.isEmpty)
    }

    @Test func nothingIsWrittenWithoutTheListOfTargets() throws {
        try package.remove("targets.json")
        #expect(run("Comment").errors.contains("cannot be read: "))
        #expect(package.files.isEmpty)
    }

    @Test func invalidArgumentsPrintTheUsage() {
        #expect(run("comment").code == .usage)
        let ending = run()
        #expect(ending.code == .usage)
        #expect(ending.errors == "scaffold-subject: the name of the subject is missing\n" + Arguments.usage)
        #expect(package.files.isEmpty)
    }

    @Test func helpIsPrintedAndNothingIsWritten() {
        let ending = run("Comment", "--help")
        #expect(ending.code == .success)
        #expect(ending.output == Arguments.usage)
        #expect(package.files.isEmpty)
    }
}
