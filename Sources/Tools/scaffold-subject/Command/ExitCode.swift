/// How the scaffold ended, as it tells whoever started it.
enum ExitCode: Int32 {
    /// It did what was asked.
    case success = 0
    /// The subject could not be written, and nothing was.
    case failure = 1
    /// It was not told properly what to do.
    case usage = 2
}
