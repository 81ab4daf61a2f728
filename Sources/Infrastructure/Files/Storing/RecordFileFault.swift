/// What goes wrong in a step, for the tests of what becomes of a store then.
package struct RecordFileFault: Sendable {
    /// Says of a step what goes wrong in it; `nil` if it is done.
    package typealias Source = @Sendable (RecordFileStep) -> RecordFileFault?

    /// The system's number for what goes wrong.
    package let code: Int32
    /// How many bytes are written before that.
    package let writtenCount: Int

    /// Makes a fault by the system's number for it.
    package init(code: Int32, writtenCount: Int = 0) {
        self.code = code
        self.writtenCount = writtenCount
    }
}
