import Foundation
import Testing

@testable import check_layers

struct SwiftPackageTests {
    @Test(arguments: [
        ("{\n  \"name\" : \"x\"\n}\n", "{\n  \"name\" : \"x\"\n}"),
        ("Another instance is running\nwaiting\n{\n}\n", "{\n}"),
        ("{\n}\nwarning: late\n", "{\n}"), ("{\"a\": 1}\n", "{\"a\": 1}"), ("{ cut", "{ cut"),
        ("no answer {}\n", "no answer {}\n"), ("", ""),
    ])
    func textAroundTheAnswerIsRemoved(printed: String, answer: String) {
        #expect(String(decoding: SwiftPackage.answer(in: Data(printed.utf8)), as: UTF8.self) == answer)
    }
}
