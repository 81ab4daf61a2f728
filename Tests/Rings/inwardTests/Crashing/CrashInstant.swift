/// When a run of the program is killed.
enum CrashInstant {
    /// What has become of a request by then.
    enum Stage: CaseIterable {
        /// It has arrived, and nothing is done.
        case arrived
        /// It is done, and not answered.
        case done
        /// It is done, and half of the answer is sent.
        case halfAnswered
        /// It is done and answered.
        case answered
    }

    /// As soon as it has printed so many lines.
    case lines(Int)
    /// As soon as it has printed so many bytes.
    case bytes(Int)
    /// At its request of this number, from 1 on.
    case request(Int, Stage)
    /// As soon as it has changed the files of its store so many times, which its output and its requests do not tell.
    case changes(Int)

    /// One of those that there are for a run with so many posts. Requests are seen at an upstream of the test's own alone.
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
            // Two that ask for each post, and one that delivers it.
            .request(
                .random(in: 1...(posts * 3), using: &generator),
                Stage.allCases.randomElement(using: &generator) ?? .arrived
            )
        }
    }
}
