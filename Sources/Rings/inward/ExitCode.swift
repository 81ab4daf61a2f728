/// The exit status of the program.
enum ExitCode: Int32 {
    /// It did what was asked.
    case success = 0
    /// The upstream failed, or the output could not be written.
    case failure = 1
    /// It was not told properly what to do.
    case usage = 2
}
