/// The instant at which a run of the program is killed.
enum CrashInstant {
    /// The progress of a request at that instant.
    enum Stage: CaseIterable {
        /// It has arrived but is not done.
        case arrived
        /// It is done but not answered.
        case done
        /// It is done, and half of the answer is sent.
        case halfAnswered
        /// It is done and answered.
        case answered
    }

    /// When it has printed this many lines.
    case lines(Int)
    /// When it has printed this many bytes.
    case bytes(Int)
    /// At the request with this number, starting at 1.
    case request(Int, Stage)
    /// When it has changed the files of its store this many times, which neither its output nor its requests reveal.
    case changes(Int)

    /// Returns a random instant of a run. Only an upstream of the test sees requests.
    static func random(
        posts: Int,
        seesRequests: Bool,
        using generator: inout some RandomNumberGenerator
    ) -> Self {
        switch Int.random(in: 0..<(seesRequests ? 8 : 4), using: &generator) {
        case 0: .lines(.random(in: 1...posts, using: &generator))
        case 1: .bytes(.random(in: 1...(posts * 60), using: &generator))
        case 2, 3: .changes(.random(in: 1...(posts * 4), using: &generator))
        default:
            // Two reads for each post, and one write that delivers it.
            .request(
                .random(in: 1...(posts * 3), using: &generator),
                Stage.allCases.randomElement(using: &generator) ?? .arrived
            )
        }
    }
}
