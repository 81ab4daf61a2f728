import InwardCore

extension ImageCodecError {
    /// The task was cancelled.
    public static let cancelled = ImageCodecError(.cancelled, "was given up")

    /// The deadline of the task passed.
    public static let timedOut = ImageCodecError(.timedOut, "was not decoded or encoded before the deadline")

    /// Throws if the task was cancelled, or if its deadline has passed.
    ///
    /// A codec calls this between the steps of its work, such as rows, so that no picture keeps a thread busy for longer than
    /// its caller waits. It looks at the deadline itself, because the timer that cancels the task may have no thread to run on
    /// while codecs are busy on all of them.
    ///
    /// - Throws: ``cancelled`` or ``timedOut``.
    public static func checkCancellation() throws(ImageCodecError) {
        guard !Task.isCancelled else { throw .cancelled }
        if let deadline = Deadline.current, deadline.hasPassed { throw .timedOut }
    }
}
