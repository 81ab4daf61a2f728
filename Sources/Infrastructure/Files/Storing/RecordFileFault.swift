/// What goes wrong in a step, for the tests of what becomes of a store then.
struct RecordFileFault: Sendable {
    /// Says of a step what goes wrong in it; `nil` if it is done.
    typealias Source = @Sendable (RecordFileStep) -> RecordFileFault?

    /// The system's number for what goes wrong.
    let code: Int32
    /// How many bytes are written before that.
    var writtenCount = 0
}
