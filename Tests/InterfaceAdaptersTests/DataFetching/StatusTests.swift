import InterfaceAdapters
import Testing

struct StatusTests {
    @Test(arguments: [(199, false), (200, true), (299, true), (300, false), (404, false)])
    func successIsTheTwoHundreds(code: Int, isSuccess: Bool) {
        #expect(DataResponse.Status(code).isSuccess == isSuccess)
    }

    /// RFC 9110 section 15.
    @Test func statusesHaveTheirNumbers() {
        let statuses: [DataResponse.Status] = [
            .ok, .created, .partialContent, .notModified, .unauthorized, .notFound, .methodNotAllowed,
            .rangeNotSatisfiable,
        ]
        #expect(statuses.map(\.code) == [200, 201, 206, 304, 401, 404, 405, 416])
    }

    @Test func aStatusIsToldWithItsPhrase() {
        #expect(DataResponse.Status.notFound.description == "404 Not Found")
        #expect(DataResponse.Status(599).description == "status 599")
    }
}
