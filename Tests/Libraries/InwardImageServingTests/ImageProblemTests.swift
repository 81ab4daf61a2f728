import InwardFetching
import InwardImageServing
import InwardImages
import Testing

struct ImageProblemTests {
    private static let address: ImageAddress = "http://user:secret@internal.test/cat.jpg?key=secret"

    /// The status of each reason. A new reason without a status does not compile.
    private static func status(_ reason: ImageError.Reason) -> Int {
        switch reason {
        case .notFound: 404
        case .denied: 403
        case .tooLarge, .unsupported, .damaged: 502
        case .unavailable, .timedOut, .cancelled: 503
        }
    }

    private static func status(_ reason: ImageCodecError.Reason) -> Int {
        switch reason {
        case .unrecognized, .unsupported: 415
        case .damaged, .truncated, .unencodable: 422
        case .timedOut, .cancelled: 503
        }
    }

    @Test(arguments: ImageError.Reason.allCases) func everyImageErrorHasAStatus(reason: ImageError.Reason) {
        let error: any Error = ImageError(reason, of: Self.address, explanation: "failed: \(Self.address.rawValue)")
        let problem = ProblemDetails(error)
        #expect(problem.status.code == Self.status(reason))
        #expect(!problem.detail.contains("secret") && !problem.detail.contains("internal"))
    }

    @Test(arguments: [
        ImageCodecError.Reason.unrecognized, .unsupported(.png), .damaged(.png), .truncated(.png), .unencodable(.png),
        .cancelled, .timedOut,
    ])
    func everyImageCodecErrorHasAStatus(reason: ImageCodecError.Reason) {
        let error: any Error = ImageCodecError(reason, "has \(Self.address.rawValue) in its metadata")
        let problem = ProblemDetails(error)
        #expect(problem.status.code == Self.status(reason) && !problem.detail.contains("secret"))
    }
}
