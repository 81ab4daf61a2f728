import InwardFetching
import Testing

@testable import FeedService

struct QueryParametersTests {
    private func value(_ name: String, in query: String?) throws -> String? {
        try QueryParameters(query).value(name, as: "a text") { $0 }
    }

    @Test func valuesAreDecodedAsThoseOfAForm() throws {
        #expect(try value("q", in: "a=1&q=x+y%20%2B%C3%BC=&b") == "x y +ü=")
        #expect(try value("b", in: "a=1&b") == "" && value("c", in: "&&a=1") == nil && value("q", in: nil) == nil)
        #expect(try value("q", in: "%71=1") == "1")
    }

    @Test(arguments: ["q=%", "q=%zz", "q=%ff", "%ff=1"])
    func queryThatIsNotEncodedIsRefused(query: String) {
        let problem = #expect(throws: ProblemDetails.self) { try QueryParameters(query) }
        #expect(problem?.status.code == 400 && problem?.detail.hasPrefix("The query must") == true)
        let form = #expect(throws: ProblemDetails.self) { try QueryParameters(query, of: .form) }
        #expect(form?.detail.hasPrefix("The form must") == true)
    }

    @Test func repeatedParameterIsNamed() {
        let problem = #expect(throws: ProblemDetails.self) { try QueryParameters("q=1&a=2&%71=3") }
        #expect(problem?.detail == "The parameter “q” must not be repeated.")
    }
}
