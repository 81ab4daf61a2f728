import UseCases

/// What a view shows of a mirror that was made.
public struct MirrorViewModel: Hashable, Sendable {
    /// What the mirror has, of what, where, and how long it took, as two sentences.
    public let line: String

    init(_ report: MirrorReport, of source: String, in directory: String, after duration: Duration) {
        let itemCount = 2 + report.avatarCount
        let kept = itemCount - min(itemCount, report.transferredCount)
        line = """
            Mirrored \(source) into \(directory) in \(duration.spoken): \(report.userCount) users, \(report.postCount) posts, \
            \(report.avatarCount) pictures. Of \(itemCount) files \(kept) were there already, and unchanged.
            """
    }
}
