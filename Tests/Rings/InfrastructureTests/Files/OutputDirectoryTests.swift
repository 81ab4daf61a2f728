import Foundation
import InterfaceAdapters
import TestSupport
import Testing

@testable import Infrastructure

struct OutputDirectoryTests {
    private let directory: TemporaryDirectory
    private let output: OutputDirectory

    init() throws {
        directory = try TemporaryDirectory()
        output = OutputDirectory(path: directory.url.appending(path: "a/out").path(percentEncoded: false))
    }

    private func files(_ text: String) -> [RenderedFile] {
        ["a.html", "b.json"].map { RenderedFile(name: $0, contents: "marked \(text)", mark: "marked") }
    }

    @Test func directoryIsCreatedAndFilesAreWritten() throws {
        try output.write(files("one"))
        #expect(try directory.contents(of: "a/out/a.html") == "marked one")
        #expect(try directory.contents(of: "a/out/b.json") == "marked one")
    }

    @Test func markedFilesAreReplaced() throws {
        try output.write(files("one"))
        try output.write(files("two"))
        #expect(try directory.contents(of: "a/out/a.html") == "marked two")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path() + "a/out").count == 2)
    }

    @Test(arguments: ["foreign", "", "mine, and marked"])
    func foreignFileIsKeptAndNothingIsWritten(contents: String) throws {
        try directory.write(contents, to: "a/out/b.json")
        let error = #expect(throws: OutputDirectoryError.self) { try output.write(files("one")) }
        #expect(error?.path.hasSuffix("a/out/b.json") == true)
        #expect(try directory.contents(of: "a/out/b.json") == contents)
        #expect(!FileManager.default.fileExists(atPath: directory.url.path() + "a/out/a.html"))
    }

    @Test func linkCountsAsForeign() throws {
        try directory.write("marked elsewhere", to: "elsewhere")
        try directory.write("", to: "a/out/other")
        try directory.link("a/out/a.html", to: "../../elsewhere")
        #expect(throws: OutputDirectoryError.self) { try output.write(files("one")) }
        #expect(try directory.contents(of: "elsewhere") == "marked elsewhere")
    }

    @Test func errorNamesADirectoryThatCannotBeCreated() throws {
        try directory.write("a file", to: "a")
        let error = #expect(throws: OutputDirectoryError.self) { try output.write(files("one")) }
        #expect(error?.description.contains("a/out") == true)
    }

    @Test(arguments: ["a.html", "b.json"])
    func foreignFileAddedAfterTheCheckIsKept(name: String) throws {
        try output.write(files("one"))
        let place = directory.url.appending(path: "a/out/\(name)")
        let late = OutputDirectory(path: directory.url.appending(path: "a/out").path(percentEncoded: false)) {
            try? FileManager.default.removeItem(at: place)
            try? Data("foreign".utf8).write(to: place)
        }
        let error = #expect(throws: OutputDirectoryError.self) { try late.write(files("two")) }
        #expect(error?.path.hasSuffix(name) == true)
        #expect(try directory.contents(of: "a/out/\(name)") == "foreign")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path() + "a/out").count == 2)
    }

    @Test(arguments: ["a.html", ".a.html.inward-new"])
    func linkAddedAfterTheCheckIsNotFollowed(name: String) throws {
        try directory.write("marked secret", to: "elsewhere")
        try output.write(files("one"))
        let place = directory.url.appending(path: "a/out/\(name)").path(percentEncoded: false)
        let late = OutputDirectory(path: directory.url.appending(path: "a/out").path(percentEncoded: false)) {
            try? FileManager.default.removeItem(atPath: place)
            try? FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: "../../elsewhere")
        }
        try? late.write(files("two"))
        #expect(try directory.contents(of: "elsewhere") == "marked secret")
    }

    @Test func nameThatLeavesTheDirectoryIsRejected() throws {
        let file = RenderedFile(name: "../b.json", contents: "marked two", mark: "marked")
        #expect(throws: OutputDirectoryError.self) {
            try output.write(files("one"))
            try output.write([file])
        }
        #expect(!FileManager.default.fileExists(atPath: directory.url.path() + "a/b.json"))
    }
}
